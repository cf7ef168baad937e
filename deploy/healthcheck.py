"""The health check of a container: exit status 0 if scrapyd answers, else 1.

It logs in like a user, with SCRAPYD_USERNAME and SCRAPYD_PASSWORD from the environment.
"""

import base64
import os
import sys
import urllib.request

SECONDS = 5


def main() -> int:
    """Request the status of the daemon."""
    port = os.environ.get("SCRAPYD_HTTP_PORT") or "6800"
    request = urllib.request.Request(f"http://127.0.0.1:{port}/daemonstatus.json")
    user, password = (os.environ.get(f"SCRAPYD_{each}", "") for each in ("USERNAME", "PASSWORD"))
    secret = base64.b64encode(f"{user}:{password}".encode()).decode("ascii")
    request.add_header("Authorization", f"Basic {secret}")
    try:
        with urllib.request.urlopen(request, timeout=SECONDS) as answer:  # noqa: S310
            return 0 if b'"status": "ok"' in answer.read(10_000) else 1
    except OSError as error:
        print(error, file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
