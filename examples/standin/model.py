"""A model stand-in: answers OpenAI Chat, OpenAI Responses, Anthropic Messages and Gemini, streamed or not.

    uv run python examples/standin/model.py --port 0 --script script.json   # prints: listening on http://127.0.0.1:PORT
    uv run python examples/standin/model.py --port 0 --coder                # plays the model of any coding agent

The script is a JSON list of rules. The first rule whose `when` holds answers; `when` may be left out.

    [
      {"when": {"user": "Nairobi", "results": 0}, "call": [{"tool": "search_flights", "arguments": {"dest": "NBO"}}]},
      {"when": {"told": "search_flights"}, "say": "KQ311 leaves at nine.", "think": "One flight only."}
    ]

when:  user, system    text that the last user message / the system prompt contains, in any case
       offered         a tool that the request offers
       results         how many tool results the request carries
       told            the tool whose result came last
       result          text that this result contains
       model           the model asked for
then:  say, think, refuse   text; think is reasoning, refuse a refusal
       call            a list of {"tool", "arguments"}; arguments that are a string go out as they are
                       ("freeform": true makes them the input of a custom tool of Responses)
       fail            {"status": 429, "times": 1}: how the first `times` requests are answered instead
       delay_ms        pause before every frame of a stream
       cut_after       close the connection after so many frames
       error_after     send an error event after so many frames, then close

The same request always gets the same answer, ids and all.
Side calls: GET /v1/models, POST /v1/messages/count_tokens, POST /v1/embeddings, HEAD of anything.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from standin import coder, script
from standin.server import StandIn


def main() -> None:
    """Serve until interrupted."""
    parser = argparse.ArgumentParser(description="A model stand-in; see the top of this file for the script format.")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--script", type=Path, default=script.DEFAULT, help="default: script.json beside this file")
    parser.add_argument("--coder", action="store_true", help="no script: look into files with a tool that is offered")
    parser.add_argument("--log", type=Path, help="append every request here, one JSON line each")
    options = parser.parse_args()
    try:
        server = StandIn(coder.choose if options.coder else script.load(options.script), options.port, options.log)
    except (OSError, ValueError) as error:
        parser.error(str(error))
    print(f"listening on {server.url}", flush=True)
    try:
        server.serve_forever(poll_interval=0.1)
    except KeyboardInterrupt:
        pass


if __name__ == "__main__":
    main()
