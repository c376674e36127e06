import type { AnswerForwarder } from './answer-forwarder-types.ts'
import type { Exchange } from './http-exchange.ts'
import { writeEvents } from './write-streamed-response.ts'

const COMMENT = ': ping\n\n'

/** Sends pings between the events of one stream, so that proxies don't close an idle connection. */
export class StreamPing {
  private readonly exchange: Exchange
  private readonly intervalMs: number | null
  private readonly event: string
  private quietSince: number
  private seenBytes = 0

  /** `intervalMs` is null if no pings are sent. */
  constructor(exchange: Exchange, intervalMs: number | null, event = COMMENT) {
    this.exchange = exchange
    this.intervalMs = intervalMs
    this.event = event
    this.quietSince = performance.now()
  }

  onTick(forwarder: AnswerForwarder | null, now: number): void {
    const { intervalMs } = this
    const { response } = this.exchange
    if (intervalMs === null || forwarder === null) return
    if (forwarder.delivered.bytes !== this.seenBytes) {
      this.seenBytes = forwarder.delivered.bytes
      this.quietSince = now
    }
    const isEnded = response.destroyed || response.writableEnded
    const isBlocked = isEnded || response.writableNeedDrain
    if (isBlocked || forwarder.verdict !== 'open' || now - this.quietSince < intervalMs) return
    this.quietSince = now
    writeEvents(this.exchange, Buffer.from(this.event))
  }
}
