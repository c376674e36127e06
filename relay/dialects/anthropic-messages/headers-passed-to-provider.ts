import type { IncomingHttpHeaders } from 'node:http'

/** The API version that is sent if the caller names none. */
export const API_VERSION = '2023-06-01'

const BETA = 'anthropic-beta'
/**
 * Matches the betas that raise the price of a request: the fast mode, the long context of older
 * models, and the compaction, whose tokens the hold does not cover. These betas are not sent, nor
 * are the members that belong to them, except for the fast mode where a channel allows it. A
 * provider may ignore the letter case of a beta, so it is ignored here.
 */
const PRICED_BETA = /^(?:fast-mode|context-1m|compact)-/i
const FAST_MODE_BETA = /^fast-mode-/i

/** Matches the headers that would choose among the workspaces of the site's account. */
const ACCOUNT_HEADER = /workspace|organi[sz]ation/
/** Matches the headers that may hold a secret of the caller, such as a key of another site. */
const SECRET_HEADER = /key|token|auth|cookie|secret|credential|password/

/**
 * Returns the caller's `anthropic-*` headers as a flat list of names and values. Priced betas,
 * headers that choose an account and headers that may hold a secret are left out. Anthropic refuses
 * some members of a request without their beta header, and some beta headers without their members.
 * `sendsFastMode` is true if the request that is sent has the member of the fast mode.
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

/** Returns the list unchanged if no beta is removed. */
function sentBetas(list: string, sendsFastMode: boolean): string {
  const betas = list.split(',').map((beta) => beta.trim())
  const isSent = (beta: string): boolean =>
    !PRICED_BETA.test(beta) || (sendsFastMode && FAST_MODE_BETA.test(beta))
  const kept = betas.filter(isSent)
  return kept.length === betas.length ? list : kept.join(',')
}
