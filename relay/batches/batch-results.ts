import { request } from 'undici'
import type { RelayDeps } from '../pipeline/relay-deps.ts'
import {
  type ProviderTarget,
  providerRequest,
} from '../providers/openai-compatible/provider-target.ts'
import { BATCHES_PATH, VERSION_HEADERS } from './anthropic-batches.ts'

/** The maximum length of a line of results. A longer one is an answer that no model gives. */
const LINE_BYTES_MAX = 32 * 1024 * 1024
/** The time without a byte after which the provider is given up. */
const IDLE_MS = 120_000
const NEWLINE = 10

export class ResultsUnavailable extends Error {
  readonly status: number

  constructor(status: number) {
    super(`the results of a batch were answered with status ${status}`)
    this.status = status
  }
}

/**
 * Yields the lines of a batch's results as they arrive. At most one line is in memory. Rejects if
 * the results end early.
 */
export async function* resultLines(
  { outbound }: Pick<RelayDeps, 'outbound'>,
  target: ProviderTarget,
  upstreamId: string,
  signal: AbortSignal,
): AsyncGenerator<string> {
  const path = `${BATCHES_PATH}/${encodeURIComponent(upstreamId)}/results`
  const { url, headers } = providerRequest(target, path, { isUnversioned: false })
  const { statusCode, body } = await request(url, {
    dispatcher: outbound.via(target.proxy).dispatcher,
    headers: { ...headers, ...VERSION_HEADERS },
    signal,
    headersTimeout: IDLE_MS,
    bodyTimeout: IDLE_MS,
  })
  if (statusCode !== 200) {
    body.destroy()
    throw new ResultsUnavailable(statusCode)
  }
  let parts: Buffer[] = []
  let length = 0
  for await (const chunk of body as AsyncIterable<Buffer>) {
    let start = 0
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      parts.push(chunk.subarray(start, end))
      start = end + 1
      yield Buffer.concat(parts).toString('utf8')
      parts = []
      length = 0
    }
    if (start === chunk.length) continue
    parts.push(chunk.subarray(start))
    length += chunk.length - start
    if (length > LINE_BYTES_MAX) throw new Error('a line of the results of a batch is too long')
  }
  if (length > 0) yield Buffer.concat(parts).toString('utf8')
}
