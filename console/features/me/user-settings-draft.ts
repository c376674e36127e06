import { parseObject } from '#console/api/parse-json-object.ts'
import { bodyOf, type DraftOf, draftOf } from '#console/ui/forms/resource-draft.ts'
import type { ResponseOf } from '#read-api/contract/resource-field-definition.ts'
import { USER_SETTING_FIELDS } from '#read-api/contract/user-fields.ts'
import type { UpdateSettings } from '#write-api/contract/users.ts'

/** The values of the form for the user's settings. `threshold` is the text as typed. */
export type SettingsDraft = DraftOf<typeof USER_SETTING_FIELDS> & {
  readonly deliveryMethod: 'email' | 'webhook'
  readonly threshold: string
  readonly notificationEmail: string
  /**
   * The code that was sent to the address `notificationEmail`. The code is required only for an
   * address that the user has not verified yet.
   */
  readonly notificationCode: string
  readonly webhookUrl: string
  /**
   * The webhook's secret as the user typed it. The field is empty at first, because the server
   * never sends the stored secret.
   */
  readonly webhookSecret: string
  readonly removesSecret: boolean
}

/** The balance, in quota units, below which the user is warned by default. */
const THRESHOLD_DEFAULT = 500_000

export function initialDraft(setting: string): SettingsDraft {
  const stored = parseSettings(setting)
  return {
    ...draftOf(USER_SETTING_FIELDS, stored as ResponseOf<typeof USER_SETTING_FIELDS>),
    deliveryMethod: stored.notify_type === 'webhook' ? 'webhook' : 'email',
    threshold: String(stored.quota_warning_threshold ?? THRESHOLD_DEFAULT),
    notificationEmail: storedNotificationEmail(setting),
    notificationCode: '',
    webhookUrl: String(stored.webhook_url ?? ''),
    webhookSecret: '',
    removesSecret: false,
  }
}

export const storedNotificationEmail = (setting: string): string =>
  String(parseSettings(setting).notification_email ?? '')

/**
 * Reports whether the user must verify the notification address with a code. A code is needed only
 * for delivery by mail. The account's address, the stored notification address and an empty address
 * need no code.
 */
export function needsEmailCode(
  { deliveryMethod, notificationEmail }: SettingsDraft,
  account: { readonly setting: string; readonly accountEmail: string },
): boolean {
  const address = notificationEmail.trim().toLowerCase()
  const verifiedAddresses = [
    '',
    account.accountEmail.toLowerCase(),
    storedNotificationEmail(account.setting).toLowerCase(),
  ]
  return deliveryMethod === 'email' && !verifiedAddresses.includes(address)
}

export const hasWebhookSecret = (setting: string): boolean =>
  parseSettings(setting).webhook_secret_set === true

/**
 * Returns the webhook field that caused the last delivery to fail. Returns null if the last
 * delivery did not fail or the user has changed this field in the form.
 */
export function failedWebhookField(setting: string, draft: SettingsDraft): 'url' | 'secret' | null {
  const { webhook_fault: fault, webhook_url: url } = parseSettings(setting)
  if (fault === 'url') return draft.webhookUrl === url ? fault : null
  const isSecretUnchanged = draft.webhookSecret === '' && !draft.removesSecret
  return fault === 'secret' && isSecretUnchanged ? fault : null
}

export function validateSettings(draft: SettingsDraft, needsEmailCode: boolean) {
  const threshold = Number(draft.threshold)
  const isWhole = /^\d{1,16}$/.test(draft.threshold.trim()) && Number.isSafeInteger(threshold)
  if (!isWhole) return { field: 'threshold', text: 'me.thresholdInvalid' } as const
  if (needsEmailCode && draft.notificationCode.trim() === '') {
    return { field: 'notificationCode', text: 'auth.codeRequired' } as const
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
  notification_email: draft.notificationEmail.trim(),
  ...(draft.notificationCode.trim() !== '' && { notification_code: draft.notificationCode.trim() }),
  ...(draft.deliveryMethod === 'webhook' && {
    webhook_url: draft.webhookUrl.trim(),
    webhook_secret: draft.removesSecret ? null : draft.webhookSecret,
  }),
  ...bodyOf(USER_SETTING_FIELDS, draft),
})

const parseSettings = (setting: string) => parseObject(setting) ?? {}
