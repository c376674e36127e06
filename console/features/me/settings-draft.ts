import type { UpdateSettings } from '#write-api/contract/users.ts'

/** What the form holds; amounts as they are typed. */
export type SettingsDraft = {
  readonly means: 'email' | 'webhook'
  readonly threshold: string
  readonly mailTo: string
  /** That was mailed there, where the address is another one. */
  readonly mailCode: string
  readonly webhookUrl: string
  /** Always empty at first: it is never shown again. */
  readonly webhookSecret: string
  /** The one that is kept goes when this is saved. */
  readonly removesSecret: boolean
  readonly acceptsUnpriced: boolean
  readonly showsIp: boolean
}

export type SettingsFault =
  | 'thresholdInvalid'
  | 'mailCodeNeeded'
  | 'webhookNeeded'
  | 'webhookNotHttps'

/** Where the server says none. */
const THRESHOLD_DEFAULT = 500_000

/** From the account's `setting`, a JSON text; what it lacks is as it is at first. */
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

/** Whether its owner has to show that the address is theirs: neither the bound nor the kept one. */
export function needsCode(
  { means, mailTo }: SettingsDraft,
  known: { readonly setting: string; readonly boundMail: string },
): boolean {
  const address = mailTo.trim().toLowerCase()
  const proved = ['', known.boundMail.toLowerCase(), keptMailTo(known.setting).toLowerCase()]
  return means === 'email' && !proved.includes(address)
}

export const hasSecret = (setting: string): boolean => parsed(setting).webhook_secret_set === true

/** What the server says of the saved webhook, as long as that is left as it is. */
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
  // What isn't shown can't be mended, and isn't sent.
  if (draft.means === 'email') return null
  if (url === '') return 'webhookNeeded'
  return /^https:\/\//i.test(url) ? null : 'webhookNotHttps'
}

/** A threshold left alone is not sent: the site's own goes on to count. */
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
