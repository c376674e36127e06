import type { ServerResponse } from 'node:http'
import type { Fault } from './faults.ts'
import type { JournalEntry } from './journal.ts'

/** Faults that show before or instead of a right answer. True when the fault took it over. */
export function answerPlainFault(
  response: ServerResponse,
  entry: JournalEntry,
  fault: Fault,
): boolean {
  switch (fault.kind) {
    case 'status': {
      entry.status = fault.status
      entry.outcome = 'failed'
      const headers = fault.retryAfter === undefined ? {} : { 'retry-after': fault.retryAfter }
      response.writeHead(fault.status, { 'content-type': 'application/json', ...headers })
      const message = `simulated ${fault.status} for key sk-provider-secret-0123456789`
      const { code = 'simulated' } = fault
      response.end(JSON.stringify({ error: { message, type: 'simulated', code } }))
      return true
    }
    case 'stall':
      if (fault.at === 'mid-stream') return false
      if (fault.at === 'after-headers') {
        entry.status = 200
        const type = entry.isStream ? 'text/event-stream' : 'application/json'
        response.writeHead(200, { 'content-type': type })
        response.flushHeaders()
      }
      return true
    case 'html':
      entry.status = 200
      entry.outcome = 'failed'
      response.writeHead(200, { 'content-type': 'text/html' })
      response.end('<html><body>Bad gateway</body></html>')
      return true
    case 'cut':
      if (entry.isStream) return false
      return cutPlain(response, entry, fault.how)
    default:
      return false
  }
}

/** Half of the promised body, then the end of the connection. */
function cutPlain(response: ServerResponse, entry: JournalEntry, how: 'fin' | 'reset'): true {
  entry.status = 200
  entry.outcome = 'cut'
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': 1000 })
  response.write('{"id":"chatcmpl-simulated","choices":[', () => {
    if (how === 'reset') response.socket?.resetAndDestroy()
    else response.destroy()
  })
  return true
}
