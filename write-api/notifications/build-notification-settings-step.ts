import type { FastifyRequest } from 'fastify'
import { notificationsDecider } from '#domain/notifications/decide.ts'
import { type NotificationSettings, notificationsStream } from '#domain/notifications/events.ts'
import type { Sealed } from '#domain/shared/event.ts'
import { fromWire, toWire } from '#domain/shared/quota.ts'
import type { AnyStep } from '#infra/event-store/stream-actors-port.ts'
import { type ErrorCatalogue, errorsOf } from '#infra/http/http-error-class-and-catalogue.ts'
import { isHeaderText, webhookAddress } from '#infra/outbound/webhook-checks.ts'
import type { UpdateSettings } from '#write-api/contract/users.ts'
import type { Deps } from '../action.ts'
import { mailAddressOf } from '../mail/mail-address.ts'
import { verifyMailCode } from '../mail/mail-codes.ts'
import { loginError } from '../sessions/login-and-registration-errors.ts'
import { findMailOwner } from '../users/bind-and-unbind-identities.ts'

const NOTIFICATION_ERRORS = {
  // NOTE: all forbidden addresses have the same message. The message must not reveal which hosts
  // exist in the private network.
  WebhookUrlInvalid: [
    200,
    {
      zh: 'Webhook 地址无效：仅支持 https 的公网地址',
      en: 'Invalid webhook URL: it must use https, a public address and port 443',
    },
  ],
  WebhookSecretInvalid: [
    200,
    {
      zh: '接口凭证（webhook_secret）无效：只能包含英文字母、数字和半角符号',
      en: 'Invalid webhook_secret: it must consist of printable ASCII characters',
    },
  ],
} satisfies ErrorCatalogue<string>

const notificationError = errorsOf(NOTIFICATION_ERRORS)

export type SettingsChange = {
  readonly step: AnyStep
  /**
   * The vault references of webhook secrets that become unused: `ifDone` if the step succeeds,
   * `ifRejected` if the step is rejected. Null if no secret becomes unused.
   */
  readonly obsoleteSecret: { readonly ifDone: string | null; readonly ifRejected: string | null }
}

/**
 * Returns the step (a command to one stream) that changes notification settings. Before that,
 * checks the mailed code of a new address, and stores a new webhook secret in the vault. Omitted
 * settings are not changed. Calls for the same user must not run concurrently.
 */
export async function notificationsStep(
  { core }: Deps,
  request: FastifyRequest<{ readonly Body: UpdateSettings }>,
  userId: number,
): Promise<SettingsChange> {
  const changes = request.body
  const stream = notificationsStream(userId)
  const { settings: before } = await core.actors.stateOf(notificationsDecider, stream)
  const means = changes.notify_type ?? before.means
  const webhookUrl = await sealIfChanged(
    core,
    userId,
    before.webhookUrl,
    parseWebhook(changes.webhook_url),
  )
  if (means === 'webhook' && webhookUrl === null) throw notificationError('WebhookUrlInvalid')
  const secret = parseSecret(changes.webhook_secret)
  const address = parseAddress(changes.notification_email)
  const newThreshold = changes.quota_warning_threshold
  const threshold = newThreshold === undefined ? before.threshold : toWire(fromWire(newThreshold))
  const mailTo = await sealIfChanged(core, userId, before.mailTo, address)
  if (mailTo !== before.mailTo) await verifyAddress(core, request, userId, address)
  // The secret is stored after all checks, so that a rejected request leaves no secret in the
  // vault.
  const webhookSecretRef = await storeSecret(core, userId, before, secret)
  const isNewSecret = webhookSecretRef !== before.webhookSecretRef
  const settings = { means, mailTo, webhookUrl, threshold, webhookSecretRef }
  return {
    step: {
      decider: notificationsDecider,
      stream,
      command: { type: 'ChangeNotifications', userId, settings },
    },
    obsoleteSecret: {
      ifDone: isNewSecret ? before.webhookSecretRef : null,
      ifRejected: isNewSecret ? webhookSecretRef : null,
    },
  }
}

/**
 * A text in a request. Undefined leaves the stored text unchanged, and an empty text removes it.
 */
type OptionalText = string | undefined

/**
 * Returns the URL of a webhook in normalized form. Throws if the outbound policy forbids the URL.
 * The URL is checked again before each delivery.
 */
function parseWebhook(text: OptionalText): OptionalText {
  const trimmed = text?.trim()
  if (trimmed === undefined || trimmed === '') return trimmed
  const address = webhookAddress(trimmed)
  if (address === null) throw notificationError('WebhookUrlInvalid')
  return address.href
}

/**
 * Returns the secret without surrounding spaces. Throws if the secret contains characters that an
 * HTTP header must not contain.
 */
function parseSecret(text: OptionalText | null): OptionalText | null {
  const trimmed = text?.trim() ?? text
  if (typeof trimmed === 'string' && !isHeaderText(trimmed))
    throw notificationError('WebhookSecretInvalid')
  return trimmed
}

const parseAddress = (text: OptionalText): OptionalText =>
  text === undefined || text.trim() === '' ? text?.trim() : mailAddressOf(text)

/**
 * Throws if a new address is neither bound to the user nor confirmed with a mailed code, because
 * the site must not mail strangers. A correct code is consumed even if the request is rejected
 * later.
 */
async function verifyAddress(
  core: Deps['core'],
  request: FastifyRequest<{ readonly Body: UpdateSettings }>,
  userId: number,
  address: OptionalText,
): Promise<void> {
  if (address === undefined || address === '') return
  const owner = await findMailOwner(core, address)
  if (owner?.id === userId) return
  const { notification_code: code = '' } = request.body
  if (code.trim() === '') throw loginError('MailCodeRequired')
  const isRight = await verifyMailCode(core, request, `notify:${userId}`, { address, code })
  if (!isRight) throw loginError('MailCodeWrong')
}

/**
 * Encrypts a new text. If the text is omitted or equals the stored text, returns the stored
 * ciphertext, so that a repeated request changes nothing. If the text is empty, returns null.
 */
async function sealIfChanged(
  { vault }: Pick<Deps['core'], 'vault'>,
  userId: number,
  before: Sealed | null,
  text: OptionalText,
): Promise<Sealed | null> {
  if (text === undefined) return before
  if (text === '') return null
  if (before !== null && (await vault.open(userId, before)) === text) return before
  return vault.seal(userId, text)
}

/**
 * Stores a new webhook secret and returns its vault reference. Null removes the stored secret. A
 * missing or empty text keeps the stored secret, because forms never contain the stored secret.
 */
async function storeSecret(
  { vault }: Pick<Deps['core'], 'vault'>,
  userId: number,
  before: NotificationSettings,
  secret: string | null | undefined,
): Promise<string | null> {
  if (secret === null) return null
  if (secret === undefined || secret === '') return before.webhookSecretRef
  return vault.putSecret('webhook', `user:${userId}`, secret)
}
