import { request } from 'undici'
import type { Words } from '#infra/http/language.ts'
import type { OutboundLimits, Way } from '#infra/outbound/dispatcher.ts'
import { ProxyFailed } from '#infra/outbound/proxy-connector.ts'
import { RELAY_ERRORS } from '#relay/canonical/relay-errors.ts'
import { providerErrorBody } from '#relay/dialects/openai-chat/error-body.ts'

/** Of everything but chats: somebody waits for it, and nothing large is expected. */
export const ASK_LIMITS: OutboundLimits = {
  connectTimeoutMs: 5_000,
  headersTimeoutMs: 15_000,
  bodyTimeoutMs: 10_000,
  maxResponseBytes: 2 * 1024 * 1024,
}

const WHOLE_MS = 20_000

export type Told =
  | { readonly isTold: true; readonly text: string }
  /** Why not, without keys and addresses. */
  | { readonly isTold: false; readonly why: Words }

/** One GET, with deadlines and bounds; redirects are not followed. Never throws. */
export async function askProvider(
  { dispatcher }: Pick<Way, 'dispatcher'>,
  { url, headers }: { readonly url: string; readonly headers: Readonly<Record<string, string>> },
  signal: AbortSignal = AbortSignal.timeout(WHOLE_MS),
): Promise<Told> {
  try {
    const { statusCode, body } = await request(url, { dispatcher, headers, signal })
    const bytes = Buffer.from(await body.arrayBuffer())
    if (statusCode === 200) return { isTold: true, text: bytes.toString('utf8') }
    const known = [new URL(url).hostname, ...Object.values(headers).map(withoutScheme)]
    const { message } = providerErrorBody(bytes, statusCode, { isHidden: false, known }).error
    const text = message.includes(String(statusCode)) ? message : `${statusCode} ${message}`
    return { isTold: false, why: { zh: text, en: text } }
  } catch (error) {
    return { isTold: false, why: wordsOf((error as { code?: unknown }).code, error) }
  }
}

const withoutScheme = (header: string): string => header.replace(/^Bearer /, '')

function wordsOf(code: unknown, error: unknown): Words {
  const isLate =
    (error as { name?: unknown }).name === 'TimeoutError' ||
    (typeof code === 'string' && /TIMEOUT/.test(code))
  if (isLate) return plain('upstream_timeout')
  if (error instanceof ProxyFailed) return NO_WAY
  return plain(
    code === 'UND_ERR_RES_EXCEEDED_MAX_SIZE' ? 'upstream_format' : 'upstream_unreachable',
  )
}

/** Said to admins alone: who calls need not know of proxies. */
export const NO_WAY: Words = {
  zh: '代理未能建立连接，请检查 setting.proxy',
  en: 'The proxy made no connection: check setting.proxy',
}

/** Its answer is not what this provider says that it answers. */
export const notUnderstood = (): Words => plain('upstream_format')

function plain(code: 'upstream_timeout' | 'upstream_unreachable' | 'upstream_format'): Words {
  const { zh, en } = RELAY_ERRORS[code]
  return { zh, en }
}
