import type { UpdateSettings } from '#write-api/contract/users.ts'

/** The content of the form; amounts as typed. */
export type SettingsDraft = {
  readonly means: 'email' | 'webhook'
  readonly threshold: string
  readonly mailTo: string
  /** The code mailed to the address, when the address differs from the bound one. */
  readonly mailCode: string
  readonly webhookUrl: string
  /** Empty at first, because the secret is never shown again. */
  readonly webhookSecret: string
  /** Saving removes the stored secret. */
  readonly removesSecret: boolean
  readonly acceptsUnpriced: boolean
  readonly showsIp: boolean
}

export type SettingsFault =
  | 'thresholdInvalid'
  | 'mailCodeNeeded'
  | 'webhookNeeded'
  | 'webhookNotHttps'

/** Used when the server sends none. */
const THRESHOLD_DEFAULT = 500_000

/** Parses the account's `setting`, a JSON text; missing fields have their defaults. */
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

/** Whether the address must be proved: it is neither the bound nor the stored one. */
export function needsCode(
  { means, mailTo }: SettingsDraft,
  known: { readonly setting: string; readonly boundMail: string },
): boolean {
  const address = mailTo.trim().toLowerCase()
  const proved = ['', known.boundMail.toLowerCase(), keptMailTo(known.setting).toLowerCase()]
  return means === 'email' && !proved.includes(address)
}

export const hasSecret = (setting: string): boolean => parsed(setting).webhook_secret_set === true

/** The server's error about the saved webhook, while the webhook is unchanged. */
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
  // Hidden fields cannot be corrected and are not sent.
  if (draft.means === 'email') return null
  if (url === '') return 'webhookNeeded'
  return /^https:\/\//i.test(url) ? null : 'webhookNotHttps'
}

/** An unchanged threshold is not sent, so the site's default keeps applying. */
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
