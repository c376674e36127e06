import { parseObject } from '#console/api/parse-json-object.ts'
import { bodyOf, type DraftOf, draftOf } from '#console/ui/forms/resource-draft.ts'
import type { ResponseOf } from '#read-api/contract/resource-field-definition.ts'
import { USER_SETTING_FIELDS } from '#read-api/contract/user-fields.ts'
import type { UpdateSettings } from '#write-api/contract/users.ts'

/** The values of the form for the user's settings. `threshold` is the text as typed. */
export type SettingsDraft = DraftOf<typeof USER_SETTING_FIELDS> & {
  readonly deliveryMethod: 'email' | 'webhook'
  readonly threshold: string
  readonly mailTo: string
  /**
   * The code that was sent to the address `mailTo`. It is required only if the user has not proved
   * this address yet.
   */
  readonly mailCode: string
  readonly webhookUrl: string
  /**
   * The webhook's secret. It is empty at first, because the server never sends the stored secret.
   */
  readonly webhookSecret: string
  readonly removesSecret: boolean
}

/** The balance, in quota units, below which the user is warned by default. */
const THRESHOLD_DEFAULT = 500_000

export function initialDraft(setting: string): SettingsDraft {
  const stored = parsed(setting)
  return {
    ...draftOf(USER_SETTING_FIELDS, stored as ResponseOf<typeof USER_SETTING_FIELDS>),
    deliveryMethod: stored.notify_type === 'webhook' ? 'webhook' : 'email',
    threshold: String(stored.quota_warning_threshold ?? THRESHOLD_DEFAULT),
    mailTo: storedMailTo(setting),
    mailCode: '',
    webhookUrl: String(stored.webhook_url ?? ''),
    webhookSecret: '',
    removesSecret: false,
  }
}

export const storedMailTo = (setting: string): string =>
  String(parsed(setting).notification_email ?? '')

/**
 * Reports whether the user must prove the mail address for notifications with a code. The address
 * of the account and the stored address for notifications need no code.
 */
export function needsCode(
  { deliveryMethod, mailTo }: SettingsDraft,
  account: { readonly setting: string; readonly boundMail: string },
): boolean {
  const address = mailTo.trim().toLowerCase()
  const proved = ['', account.boundMail.toLowerCase(), storedMailTo(account.setting).toLowerCase()]
  return deliveryMethod === 'email' && !proved.includes(address)
}

export const hasSecret = (setting: string): boolean => parsed(setting).webhook_secret_set === true

/**
 * Returns the field of the webhook that made the last delivery fail. Returns null if no delivery
 * failed, or if the user has changed this field in the form.
 */
export function undeliverableField(setting: string, draft: SettingsDraft): 'url' | 'secret' | null {
  const { webhook_fault: undeliverable, webhook_url: url } = parsed(setting)
  if (undeliverable === 'url') return draft.webhookUrl === url ? undeliverable : null
  const isSecretUnchanged = draft.webhookSecret === '' && !draft.removesSecret
  return undeliverable === 'secret' && isSecretUnchanged ? undeliverable : null
}

export function validateSettings(draft: SettingsDraft, wantsCode: boolean) {
  const threshold = Number(draft.threshold)
  const isWhole = /^\d{1,16}$/.test(draft.threshold.trim()) && Number.isSafeInteger(threshold)
  if (!isWhole) return { field: 'threshold', text: 'me.thresholdInvalid' } as const
  if (wantsCode && draft.mailCode.trim() === '') {
    return { field: 'mailCode', text: 'auth.codeRequired' } as const
  }
  const url = draft.webhookUrl.trim()
  // Hidden webhook fields are not validated, because the user can't correct them.
  if (draft.deliveryMethod === 'email') return null
  if (url === '') return { field: 'webhookUrl', text: 'me.webhookRequired' } as const
  if (/^https:\/\//i.test(url)) return null
  return { field: 'webhookUrl', text: 'me.webhookNotHttps' } as const
}

/**
 * Returns the body of the request that saves the settings. An unchanged threshold is left out, so
 * that later changes of the default threshold apply to the user.
 */
export const settingsChange = (draft: SettingsDraft, before: SettingsDraft): UpdateSettings => ({
  notify_type: draft.deliveryMethod,
  ...(draft.threshold !== before.threshold && { quota_warning_threshold: Number(draft.threshold) }),
  notification_email: draft.mailTo.trim(),
  ...(draft.mailCode.trim() !== '' && { notification_code: draft.mailCode.trim() }),
  ...(draft.deliveryMethod === 'webhook' && {
    webhook_url: draft.webhookUrl.trim(),
    webhook_secret: draft.removesSecret ? null : draft.webhookSecret,
  }),
  ...bodyOf(USER_SETTING_FIELDS, draft),
})

const parsed = (setting: string) => parseObject(setting) ?? {}
