// The one tool of the small Node agents here.
import { spawnSync } from "node:child_process";
import { z } from "zod";

export const name = "run_command";
export const description = "Run a shell command and return what it printed.";
export const parameters = z.object({ command: z.string() });
export const run = async ({ command }) => spawnSync(command, { shell: true, encoding: "utf8" }).stdout;
