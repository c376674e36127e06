import { type AddressInfo, createServer, type Socket } from 'node:net'

/**
 * An OpenAI-compatible provider that sends the same bytes for every request and uses almost no CPU
 * time.
 */
const body = JSON.stringify({
  id: 'chatcmpl-light',
  object: 'chat.completion',
  created: 1_780_000_000,
  model: 'sim-small',
  choices: [
    {
      index: 0,
      message: { role: 'assistant', content: 'a ledger that never forgets' },
      finish_reason: 'stop',
    },
  ],
  usage: { prompt_tokens: 12, completion_tokens: 6, total_tokens: 18 },
})
const answer = Buffer.from(
  'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n' +
    `content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
)
const HEAD_END = '\r\n\r\n'

function serve(socket: Socket): void {
  let kept: Buffer = Buffer.alloc(0)
  socket.setNoDelay(true)
  socket.on('error', () => {})
  socket.on('data', (bytes: Buffer) => {
    kept = kept.length === 0 ? bytes : Buffer.concat([kept, bytes])
    for (;;) {
      const end = kept.indexOf(HEAD_END)
      if (end < 0) return
      const head = kept.toString('latin1', 0, end)
      const length = Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1] ?? 0)
      if (kept.length < end + HEAD_END.length + length) return
      kept = kept.subarray(end + HEAD_END.length + length)
      socket.write(answer)
    }
  })
}

const server = createServer(serve)
server.listen(0, '127.0.0.1', 4096, () => {
  process.stdout.write(`http://127.0.0.1:${(server.address() as AddressInfo).port}\n`)
})
