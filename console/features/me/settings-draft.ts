import type { UpdateSettings } from '#write-api/contract/users.ts'

/** The form's values; amounts are typed texts. */
export type SettingsDraft = {
  readonly means: 'email' | 'webhook'
  readonly threshold: string
  readonly mailTo: string
  /** The code that was mailed to `mailTo`, if it differs from the bound address. */
  readonly mailCode: string
  readonly webhookUrl: string
  /** Empty at first, because the server never sends the secret. */
  readonly webhookSecret: string
  /** True if saving removes the stored secret. */
  readonly removesSecret: boolean
  readonly acceptsUnpriced: boolean
  readonly showsIp: boolean
}

export type SettingsFault =
  | 'thresholdInvalid'
  | 'mailCodeNeeded'
  | 'webhookNeeded'
  | 'webhookNotHttps'

/** Applies if the server sends no threshold. */
const THRESHOLD_DEFAULT = 500_000

/** Parses the account's `setting` (JSON); missing fields get default values. */
export function draftOf(setting: string): SettingsDraft {
  const kept = parsed(setting)
  return {
    means: kept.notify_type === 'webhook' ? 'webhook' : 'email',
    threshold: String(kept.quota_warning_threshold ?? THRESHOLD_DEFAULT),
    mailTo: keptMailTo(setting),
    mailCode: '',
    webhookUrl: String(kept.webhook_url ?? ''),
    webhookSecret: '',
    removesSecret: false,
    acceptsUnpriced: kept.accept_unset_model_ratio_model === true,
    showsIp: kept.show_ip_in_logs === true,
  }
}

export const keptMailTo = (setting: string): string =>
  String(parsed(setting).notification_email ?? '')

/** Returns true if the address needs a code: it is neither the bound nor the stored address. */
export function needsCode(
  { means, mailTo }: SettingsDraft,
  known: { readonly setting: string; readonly boundMail: string },
): boolean {
  const address = mailTo.trim().toLowerCase()
  const proved = ['', known.boundMail.toLowerCase(), keptMailTo(known.setting).toLowerCase()]
  return means === 'email' && !proved.includes(address)
}

export const hasSecret = (setting: string): boolean => parsed(setting).webhook_secret_set === true

/** Returns the webhook field that the server rejected; null after the user changes the field. */
export function unsendableOf(setting: string, draft: SettingsDraft): 'url' | 'secret' | null {
  const { webhook_fault: fault, webhook_url: url } = parsed(setting)
  if (fault === 'url') return draft.webhookUrl === url ? fault : null
  const isLeft = draft.webhookSecret === '' && !draft.removesSecret
  return fault === 'secret' && isLeft ? fault : null
}

export function faultOf(draft: SettingsDraft, wantsCode = false): SettingsFault | null {
  const threshold = Number(draft.threshold)
  const isWhole = /^\d{1,16}$/.test(draft.threshold.trim()) && Number.isSafeInteger(threshold)
  if (!isWhole) return 'thresholdInvalid'
  if (wantsCode && draft.mailCode.trim() === '') return 'mailCodeNeeded'
  const url = draft.webhookUrl.trim()
  // Users cannot correct hidden fields, so these fields are not validated or sent.
  if (draft.means === 'email') return null
  if (url === '') return 'webhookNeeded'
  return /^https:\/\//i.test(url) ? null : 'webhookNotHttps'
}

/** Omits an unchanged threshold, so that the site's default continues to apply. */
export const changeOf = (draft: SettingsDraft, before: SettingsDraft): UpdateSettings => ({
  notify_type: draft.means,
  ...(draft.threshold !== before.threshold && { quota_warning_threshold: Number(draft.threshold) }),
  notification_email: draft.mailTo.trim(),
  ...(draft.mailCode.trim() !== '' && { notification_code: draft.mailCode.trim() }),
  ...(draft.means === 'webhook' && {
    webhook_url: draft.webhookUrl.trim(),
    webhook_secret: draft.removesSecret ? null : draft.webhookSecret,
  }),
  accept_unset_model_ratio_model: draft.acceptsUnpriced,
  show_ip_in_logs: draft.showsIp,
})

function parsed(setting: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(setting)
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
  } catch {
    return {}
  }
}
