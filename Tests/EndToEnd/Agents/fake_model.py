"""A model that plays scripts, for agents that believe to speak with Anthropic or OpenAI.

It answers Anthropic's Messages API and OpenAI's Responses API on loopback. A prompt names its
script, as in "Do it. [play deploy]"; what the model has said since then tells which turn is next.
So subagents, which have prompts of their own, can have scripts of their own.
"""

import http.server
import itertools
import json
import re
import threading


def call(tool, namespace=None, **arguments):
    """A call of a tool; Codex keeps the tools of each server in a namespace."""
    return {"call": tool, "namespace": namespace, "input": arguments}


def freeform(tool, text):
    """A call of a tool of Codex that takes text as it is."""
    return {"call": tool, "namespace": None, "text": text}


def strings(content):
    """All texts of a message or a tool's result, however its parts are nested."""
    match content:
        case str():
            return content
        case list():
            return "\n".join(strings(part) for part in content)
        case dict():
            parts = (content.get(name) for name in ("text", "content", "output"))
            return next((strings(part) for part in parts if part is not None), "")
        case _:
            return ""


class Conversation:
    """What was said since the last prompt that names a script, whichever API the agent speaks."""

    calls = {"tool_use", "function_call", "custom_tool_call"}
    results = {"tool_result", "function_call_output", "custom_tool_call_output"}

    def __init__(self, messages):
        self.script = None
        self.turns = 0
        self.returned = []
        self.speaks = False
        for role, part in self.parts(messages):
            self.take(role, part)

    @staticmethod
    def parts(messages):
        if isinstance(messages, str):
            messages = [{"role": "user", "content": messages}]
        for message in messages:
            content = message.get("content")
            if "role" in message and isinstance(content, list):
                for part in content:
                    yield message["role"], part
            elif "role" in message:
                yield message["role"], {"type": "text", "text": content}
            else:
                yield None, message

    def take(self, role, part):
        kind = part["type"]
        if kind in self.results:
            self.returned.append(strings(part.get("content", part.get("output"))))
            self.speaks = False
        elif kind in self.calls or role == "assistant":
            self.turns += not self.speaks
            self.speaks = True
        elif role == "user":
            self.speaks = False
            names = re.findall(r"\[play (\w+)\]", part.get("text", ""))
            if names:
                self.script, self.turns, self.returned = names[-1], 0, []


class FakeModel:
    """`play` gives it a script, `returned` says what the tools have returned in one."""

    def __init__(self):
        self.scripts = {}
        self.requests = []
        self.number = itertools.count(1)
        self.seen = {}
        model = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def do_HEAD(self):
                self.reply(b"{}")

            def do_GET(self):
                self.reply(json.dumps({"data": [], "models": [], "has_more": False}).encode())

            def do_POST(self):
                body = self.rfile.read(int(self.headers.get("content-length") or 0))
                model.serve(self, json.loads(body or b"{}"))

            def reply(self, body, kind="application/json"):
                self.send_response(200)
                self.send_header("content-type", kind)
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                if self.command != "HEAD":
                    self.wfile.write(body)

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def play(self, script, *turns):
        """A turn is a text, a call, a list of calls at once, or a function of what was returned."""
        self.scripts[script] = turns
        self.seen.pop(script, None)

    def returned(self, script):
        """The results that the model has been sent since the prompt, as one text each."""
        return self.seen.get(script, [])

    def has_heard(self, text):
        return any(text in json.dumps(request, ensure_ascii=False) for request in self.requests)

    def serve(self, handler, request):
        self.requests.append(request)
        if "count_tokens" in handler.path:
            return handler.reply(b'{"input_tokens": 100}')
        anthropic = "/messages" in handler.path
        talk = Conversation(request.get("messages" if anthropic else "input", []))
        said = self.turn(talk, request)
        whole, events = (self.anthropic if anthropic else self.openai)(said, request)
        if not request.get("stream"):
            return handler.reply(json.dumps(whole).encode())
        lines = [f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events]
        handler.reply("".join(lines).encode(), "text/event-stream")

    def turn(self, talk, request):
        # Agents also ask for titles and summaries, without tools.
        if talk.script not in self.scripts or not request.get("tools"):
            return ["ok"]
        self.seen[talk.script] = talk.returned
        turns = self.scripts[talk.script]
        if talk.turns >= len(turns):
            return ["Done."]
        turn = turns[talk.turns]
        if callable(turn):
            turn = turn(talk.returned)
        return turn if isinstance(turn, list) else [turn]

    def anthropic(self, said, request):
        blocks = [
            {"type": "text", "text": part}
            if isinstance(part, str)
            else {
                "type": "tool_use", "id": f"toolu_{next(self.number):024}", "name": part["call"],
                "input": part["input"],
            }
            for part in said
        ]
        reason = "tool_use" if any("id" in block for block in blocks) else "end_turn"
        usage = {"input_tokens": 10, "output_tokens": 10}
        message = {
            "id": f"msg_{next(self.number):024}", "type": "message", "role": "assistant",
            "model": request.get("model"), "content": blocks, "stop_reason": reason,
            "stop_sequence": None, "usage": usage,
        }
        events = [{"type": "message_start", "message": {**message, "content": []}}]
        for index, block in enumerate(blocks):
            if block["type"] == "text":
                start, delta = {"text": ""}, {"type": "text_delta", "text": block["text"]}
            else:
                text = json.dumps(block["input"])
                start, delta = {"input": {}}, {"type": "input_json_delta", "partial_json": text}
            events += [
                {"type": "content_block_start", "index": index, "content_block": block | start},
                {"type": "content_block_delta", "index": index, "delta": delta},
                {"type": "content_block_stop", "index": index},
            ]
        end = {"stop_reason": reason, "stop_sequence": None}
        events += [
            {"type": "message_delta", "delta": end, "usage": usage}, {"type": "message_stop"}
        ]
        return message, events

    def openai(self, said, request):
        items = [self.item(part) for part in said]
        usage = {
            "input_tokens": 10, "input_tokens_details": None, "output_tokens": 10,
            "output_tokens_details": None, "total_tokens": 20,
        }
        response = {
            "id": f"resp_{next(self.number)}", "object": "response", "status": "completed",
            "model": request.get("model"), "output": items, "usage": usage,
        }
        events = [{"type": "response.created", "response": {"id": response["id"]}}]
        for index, item in enumerate(items):
            for kind in ("added", "done"):
                events.append(
                    {"type": f"response.output_item.{kind}", "output_index": index, "item": item}
                )
        return response, [*events, {"type": "response.completed", "response": response}]

    def item(self, part):
        id = str(next(self.number))
        if isinstance(part, str):
            content = [{"type": "output_text", "text": part, "annotations": []}]
            return {"type": "message", "role": "assistant", "id": f"msg_{id}", "content": content}
        if "text" in part:
            return {
                "type": "custom_tool_call", "call_id": f"call_{id}", "name": part["call"],
                "input": part["text"],
            }
        item = {
            "type": "function_call", "id": f"fc_{id}", "call_id": f"call_{id}",
            "name": part["call"], "arguments": json.dumps(part["input"]),
        }
        return item | ({"namespace": part["namespace"]} if part["namespace"] else {})
