import { request } from 'undici'
import type { TranslatedText } from '#domain/shared/translated-text.ts'
import type { Connections, OutboundLimits } from '#infra/outbound/outbound-connections.ts'
import { ProxyFailed } from '#infra/outbound/proxy-connector.ts'
import { RELAY_ERRORS } from '#relay/canonical/relay-error-catalogue.ts'
import { providerErrorBody } from '#relay/dialects/openai-chat/error-format.ts'

/**
 * The limits of requests that channel actions send, except for tests of channels. Timeouts are
 * short, because an admin waits for the response.
 */
export const PROVIDER_REQUEST_LIMITS: OutboundLimits = {
  connectTimeoutMs: 5_000,
  headersTimeoutMs: 15_000,
  bodyTimeoutMs: 10_000,
  maxResponseBytes: 2 * 1024 * 1024,
}

const TOTAL_MS = 20_000

type ProviderReply =
  | { readonly isAnswered: true; readonly text: string }
  /** The provider gave no usable response. `why` is a message without keys and addresses. */
  | { readonly isAnswered: false; readonly why: TranslatedText }

/** Sends one GET request without following redirects. Failures are returned, never thrown. */
export async function sendGetRequest(
  { dispatcher }: Pick<Connections, 'dispatcher'>,
  { url, headers }: { readonly url: string; readonly headers: Readonly<Record<string, string>> },
  signal: AbortSignal = AbortSignal.timeout(TOTAL_MS),
): Promise<ProviderReply> {
  try {
    const { statusCode, body } = await request(url, { dispatcher, headers, signal })
    const bytes = Buffer.from(await body.arrayBuffer())
    if (statusCode === 200) return { isAnswered: true, text: bytes.toString('utf8') }
    const confidential = [new URL(url).hostname, ...Object.values(headers).map(withoutScheme)]
    const { message } = providerErrorBody(bytes, statusCode, {
      isHidden: false,
      confidential,
    }).error
    const text = message.includes(String(statusCode)) ? message : `${statusCode} ${message}`
    return { isAnswered: false, why: { zh: text, en: text } }
  } catch (error) {
    return {
      isAnswered: false,
      why: connectionErrorText((error as { code?: unknown }).code, error),
    }
  }
}

const withoutScheme = (header: string): string => header.replace(/^Bearer /, '')

function connectionErrorText(code: unknown, error: unknown): TranslatedText {
  const isLate =
    (error as { name?: unknown }).name === 'TimeoutError' ||
    (typeof code === 'string' && /TIMEOUT/.test(code))
  if (isLate) return plain('upstream_timeout')
  if (error instanceof ProxyFailed) return PROXY_FAILED
  return plain(
    code === 'UND_ERR_RES_EXCEEDED_MAX_SIZE' ? 'upstream_format' : 'upstream_unreachable',
  )
}

/**
 * The message for a failed proxy. Only admins see this message, because callers must not learn
 * about proxies.
 */
export const PROXY_FAILED: TranslatedText = {
  zh: '代理未能建立连接，请检查 setting.proxy',
  en: 'The proxy did not connect: check setting.proxy',
}

/** Returns the message for a response whose format is not the expected one. */
export const unexpectedFormat = (): TranslatedText => plain('upstream_format')

function plain(
  code: 'upstream_timeout' | 'upstream_unreachable' | 'upstream_format',
): TranslatedText {
  const { zh, en } = RELAY_ERRORS[code]
  return { zh, en }
}
