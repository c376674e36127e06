import type { ReadTexts } from '#relay/canonical/answer-text-sink.ts'
import type { Exchange } from './http-exchange.ts'
import type { Candidate } from './prepare-request-for-channel.ts'

/** The calls for which an unreadable answer was logged. */
const logged = new WeakSet<Exchange>()

/**
 * Logs once per call that a reader threw an exception for the provider's answer. Such an answer is
 * not passed on, or its usage is only counted, which an operator would otherwise not notice.
 */
export function logUnreadableAnswer(exchange: Exchange, channelId: number, err: unknown): void {
  const { log, call } = exchange
  if (logged.has(exchange)) return
  logged.add(exchange)
  log?.warn({ err, call, channelId }, 'an answer could not be read completely')
}

/** Returns the reader of the answer's texts. The reader reports its exceptions. */
export function readTextsOf({
  request,
  onUnreadable,
}: Pick<Candidate, 'request' | 'onUnreadable'>): ReadTexts {
  const { readTexts } = request.format
  if (onUnreadable === undefined) return readTexts
  return (json, sink) => {
    try {
      readTexts(json, sink)
    } catch (err) {
      onUnreadable(err)
      throw err
    }
  }
}
