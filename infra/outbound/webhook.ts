import { checkUrl, userPolicy } from './guard.ts'

/** What a header takes: printable ASCII alone. */
export const isHeaderText = (text: string): boolean => /^[\x20-\x7e]*$/.test(text)

/** Where a user's webhook may go: https, and an address that the policy lets; null: nowhere. */
export function webhookAddress(url: string): URL | null {
  const checked = checkUrl(url, userPolicy)
  return checked.isAllowed && checked.url.protocol === 'https:' ? checked.url : null
}

export type WebhookErrorCode = 'url' | 'secret'

/**
 * What of a webhook, as it was saved long ago, can't ever be sent by the rules of now; null:
 * nothing. `secret` undefined: it is kept no more; null: there is none.
 */
export function webhookErrorOf(
  url: string,
  secret: string | null | undefined,
): WebhookErrorCode | null {
  if (webhookAddress(url) === null) return 'url'
  return secret === null || (secret !== undefined && isHeaderText(secret)) ? null : 'secret'
}
