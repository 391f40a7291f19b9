// An agent as they are: it counts its runs in its home, leaves a file where it works, and tells the model all of it.
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";

const memory = path.join(os.homedir(), ".remembers");
const runs = fs.existsSync(memory) ? Number(fs.readFileSync(memory, "utf8")) + 1 : 1;
fs.writeFileSync(memory, String(runs));
const notes = fs.readdirSync(".").filter((name) => name.startsWith("note")).sort();
fs.writeFileSync(`note-${notes.length}`, "");

let facts = {
  runs,
  notes,
  home: os.homedir(),
  cwd: process.cwd(),
  commit: fs.existsSync(".git") ? execFileSync("git", ["log", "--format=%H %ad"], { encoding: "utf8" }) : "",
  now: new Date().toISOString(),
  zone: process.env.TZ ?? "",
  language: process.env.LANG ?? "",
  hello: fs.existsSync("hello.txt") ? fs.readFileSync("hello.txt", "utf8") : "",
};
if (process.env.AGENT_TELLS) {
  facts = Object.fromEntries(process.env.AGENT_TELLS.split(",").map((name) => [name, facts[name]]));
}
const content = JSON.stringify(facts);
console.log(content);
await fetch(`${process.env.OPENAI_BASE_URL}/chat/completions`, {
  method: "POST",
  headers: { "content-type": "application/json" },
  body: JSON.stringify({ model: "brain-1", messages: [{ role: "user", content }] }),
}).then((answer) => { if (!answer.ok) process.exit(1); });
