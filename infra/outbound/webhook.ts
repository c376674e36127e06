import { checkUrl, userPolicy } from './guard.ts'

/** What a header takes: printable ASCII alone. */
export const isHeaderText = (text: string): boolean => /^[\x20-\x7e]*$/.test(text)

export type WebhookFault = 'url' | 'secret'

/**
 * What of a webhook, as it was saved long ago, can't ever be sent by the rules of now; null:
 * nothing. `secret` undefined: it is kept no more; null: there is none.
 */
export function webhookFault(url: string, secret: string | null | undefined): WebhookFault | null {
  const checked = checkUrl(url, userPolicy)
  if (!checked.isAllowed || checked.url.protocol !== 'https:') return 'url'
  return secret === null || (secret !== undefined && isHeaderText(secret)) ? null : 'secret'
}
