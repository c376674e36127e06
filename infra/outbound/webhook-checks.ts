import { checkUrl, userPolicy } from './outbound-policy.ts'

/** Reports whether the text is printable ASCII, which a header value may contain. */
export const isHeaderText = (text: string): boolean => /^[\x20-\x7e]*$/.test(text)

/**
 * Returns the URL of a user's webhook. Returns null if the URL is not https, or if its address is
 * not allowed.
 */
export function webhookAddress(url: string): URL | null {
  const checked = checkUrl(url, userPolicy)
  return checked.isAllowed && checked.url.protocol === 'https:' ? checked.url : null
}

export type WebhookErrorCode = 'url' | 'secret'

/**
 * Returns `url` or `secret` if this part of a stored webhook is invalid, or null if the webhook can
 * be used. `secret` is null for a webhook without a secret, and undefined if the secret is no
 * longer stored.
 */
export function webhookErrorOf(
  url: string,
  secret: string | null | undefined,
): WebhookErrorCode | null {
  if (webhookAddress(url) === null) return 'url'
  return secret === null || (secret !== undefined && isHeaderText(secret)) ? null : 'secret'
}
