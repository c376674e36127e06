import type { ServerResponse } from 'node:http'
import { serve } from '#test/support/start-http-server.ts'

const EVENTS = 40
const GAP_MS = 100

/** Streams whose pieces of text are the times at which they were written, in nanoseconds. */
const { url } = await serve((request, response) => {
  request.resume()
  request.on('end', () => void stream(response))
})
process.stdout.write(`${url}\n`)

async function stream(response: ServerResponse): Promise<void> {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  for (let at = 0; at < EVENTS; at += 1) {
    await new Promise((resume) => setTimeout(resume, GAP_MS))
    write(response, [{ index: 0, delta: { content: `<${process.hrtime.bigint()}>` } }])
  }
  write(response, [{ index: 0, delta: {}, finish_reason: 'stop' }])
  const usage = { prompt_tokens: 10, completion_tokens: EVENTS }
  response.end(`data: ${JSON.stringify({ id: 'x', choices: [], usage })}\n\ndata: [DONE]\n\n`)
}

const write = (response: ServerResponse, choices: readonly object[]): boolean =>
  response.write(`data: ${JSON.stringify({ id: 'x', model: 'timed', choices })}\n\n`)
