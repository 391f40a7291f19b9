"""The flight booking agent as a service: `POST {"prompt": …}` is answered when the flight is booked."""

import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from stdlib_chat import answer


class Service(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        prompt = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["prompt"]
        said = answer([{"role": "system", "content": "You book flights."}, {"role": "user", "content": prompt}])
        self.send_response(200)
        self.end_headers()
        self.wfile.write(said.encode())


if __name__ == "__main__":
    ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Service).serve_forever()
