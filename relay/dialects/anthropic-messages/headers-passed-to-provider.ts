import type { IncomingHttpHeaders } from 'node:http'

/** The API version that is sent if the caller's headers name none. */
export const API_VERSION = '2023-06-01'

const BETA = 'anthropic-beta'
/**
 * Matches the beta features (values of `anthropic-beta`) that raise the price of a request: the
 * fast mode, the long context of older models, and compaction. The hold (the reserved quota) does
 * not cover the tokens of a compaction. These values are not sent, with one exception: the value of
 * the fast mode is sent if the request to the provider has the member of the fast mode. The pattern
 * ignores letter case, because a provider may ignore letter case too.
 */
const PRICED_BETA = /^(?:fast-mode|context-1m|compact)-/i
const FAST_MODE_BETA = /^fast-mode-/i

/** Matches headers that choose one of the workspaces of the operator's account at the provider. */
const ACCOUNT_HEADER = /workspace|organi[sz]ation/
/** Matches headers that may contain a secret of the caller, such as a key for another service. */
const SECRET_HEADER = /key|token|auth|cookie|secret|credential|password/

/**
 * Returns the caller's `anthropic-*` headers as a flat list of names and values. Beta features that
 * raise the price, headers that choose an account and headers that may contain a secret are left
 * out. `sendsFastMode` is true if the request to the provider has the member of the fast mode. The
 * fast mode's beta feature is sent only if `sendsFastMode` is true, because Anthropic refuses some
 * members without their beta feature, and some beta features without their members.
 */
export function passedHeaders(
  headers: IncomingHttpHeaders,
  sendsFastMode = false,
): readonly string[] {
  const passed = ['anthropic-version', String(headers['anthropic-version'] ?? API_VERSION)]
  for (const name in headers) {
    if (!name.startsWith('anthropic-') || name === 'anthropic-version') continue
    if (ACCOUNT_HEADER.test(name) || SECRET_HEADER.test(name)) continue
    const value = String(headers[name])
    const kept = name === BETA ? sentBetas(value, sendsFastMode) : value
    if (kept !== '') passed.push(name, kept)
  }
  return passed
}

/**
 * Returns the comma-separated list of beta features that are sent. If none is removed, the list is
 * returned unchanged.
 */
function sentBetas(list: string, sendsFastMode: boolean): string {
  const betas = list.split(',').map((beta) => beta.trim())
  const isSent = (beta: string): boolean =>
    !PRICED_BETA.test(beta) || (sendsFastMode && FAST_MODE_BETA.test(beta))
  const kept = betas.filter(isSent)
  return kept.length === betas.length ? list : kept.join(',')
}
