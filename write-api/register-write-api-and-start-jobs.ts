import type { FastifyInstance } from 'fastify'
import { siteDecider } from '#domain/setup/decide.ts'
import { SITE_STREAM } from '#domain/setup/events.ts'
import type { Core } from '#infra/core-dependencies.ts'
import { sealClientAddresses } from '#infra/http/command-context.ts'
import {
  createShownBalances,
  createShownBudgets,
} from '#infra/http/remember-shown-balances-and-budgets.ts'
import { createOutbound } from '#infra/outbound/outbound-connections.ts'
import { operatorPolicy, userPolicy } from '#infra/outbound/outbound-policy.ts'
import type { Freshness } from '#projections/read-model-freshness/query.ts'
import type { Action, Api, Deps } from './action.ts'
import { createNextIds } from './assign-next-id.ts'
import { acknowledgeRefusedCosignature } from './audit/acknowledge-refused-cosignature.ts'
import { repriceCalls } from './audit/compare-charges-with-draft-prices.ts'
import { applyCorrection, previewCorrection } from './audit/correct-charges.ts'
import {
  deleteProviderInvoice,
  importProviderInvoice,
} from './audit/import-and-delete-provider-invoices.ts'
import { startFindingNotices } from './audit/notify-of-findings.ts'
import { recomputeCalls } from './audit/recompute-charges-at-recorded-prices.ts'
import { startProviderInvoiceRemovals } from './audit/remove-leftover-provider-invoice-rows.ts'
import { deleteScratchCopy, requestScratchCopy } from './audit/request-and-delete-scratch-copies.ts'
import { requestRebuild, requestVerification } from './audit/request-verification-or-rebuild.ts'
import { startCorrections } from './audit/run-correction.ts'
import {
  closeCircuits,
  reloadChannels,
  setChannelsStatus,
  setTagStatus,
  tagChannels,
  updateTag,
} from './channels/channel-status-circuits-and-tags.ts'
import type { ServedTypes } from './channels/channel-terms-from-request.ts'
import { copyChannel, createChannel } from './channels/create-and-copy-channels.ts'
import {
  deleteChannel,
  deleteChannels,
  deleteDisabledChannels,
} from './channels/delete-channels.ts'
import { updateChannel } from './channels/update-channel.ts'
import {
  addPasskey,
  beginPasskey,
  removePasskey,
  renamePasskey,
} from './credentials/add-rename-and-remove-passkeys.ts'
import { beginProof, proveSession } from './credentials/identity-proof.ts'
import {
  resetAccessToken,
  revokeAccessToken,
} from './credentials/replace-and-revoke-access-token.ts'
import { resetSecondFactor } from './credentials/reset-second-factor.ts'
import {
  beginTotp,
  confirmTotp,
  disableTotp,
  replaceRecoveryCodes,
} from './credentials/totp-and-recovery-code-routes.ts'
import { createKeyedMutex } from './keyed-mutex.ts'
import { sendCode } from './mail/send-mail-code.ts'
import { createSiteMailer, sendTestMail } from './mail/site-mailer-and-test-mail.ts'
import {
  deleteMessage,
  editMessage,
  readMessage,
} from './messages/edit-delete-and-read-messages.ts'
import { startTextRemovals } from './messages/remove-unused-texts.ts'
import { sendMessage } from './messages/send-message.ts'
import { WEBHOOK_LIMITS } from './notifications/send-webhook.ts'
import { startQuotaWarnings } from './notifications/warn-of-low-quota.ts'
import { authorize, oauthCallback, oauthState } from './oauth/authorize-and-callback.ts'
import { createProviders } from './oauth/configured-oauth-providers.ts'
import { PROVIDER_LIMITS } from './oauth/provider-client.ts'
import { telegramBind, telegramLogin } from './oauth/telegram.ts'
import { weChatBind, weChatLogin } from './oauth/wechat.ts'
import { previewPrices } from './options/preview-charges-at-draft-prices.ts'
import {
  cancelPrices,
  schedulePrices,
  startPriceSchedule,
} from './options/schedule-and-apply-price-changes.ts'
import { resetModelRatios, setOption } from './options/set-option-and-reset-ratios.ts'
import { createRedemption } from './redemptions/create-redemption.ts'
import {
  deleteDisabledRedemptions,
  deleteRedemption,
  deleteRedemptionsByName,
  disableRedemptions,
} from './redemptions/delete-and-disable-redemptions.ts'
import { redeemCode } from './redemptions/redeem-code.ts'
import { updateRedemption } from './redemptions/update-redemption.ts'
import { endOtherSessions, endSession, logout } from './sessions/end-sessions.ts'
import { createHumanCheck } from './sessions/human-check.ts'
import { login } from './sessions/login.ts'
import { createLoginGuard } from './sessions/login-throttling.ts'
import { beginPasskeyLogin, passkeyLogin } from './sessions/passkey-login.ts'
import { recordFailedLogins } from './sessions/record-failed-logins.ts'
import { requestReset } from './sessions/request-password-reset.ts'
import { resetPassword } from './sessions/reset-password.ts'
import { secondStep, secondStepPasskey } from './sessions/second-login-step.ts'
import { initializeSite } from './setup/initialize-site.ts'
import { createSetupToken } from './setup/setup-token.ts'
import { createToken } from './tokens/create-token.ts'
import { deleteToken, deleteTokens } from './tokens/delete-tokens.ts'
import { setTokenStatuses } from './tokens/token-status.ts'
import { updateToken } from './tokens/update-token.ts'
import { warnOfPartialConfigAtStart } from './top-ups/configured-payment-methods.ts'
import { notifyEpay } from './top-ups/epay-notification.ts'
import { placeOrder, quoteTopUp } from './top-ups/quote-and-place-order.ts'
import { refundOrder } from './top-ups/refund-order.ts'
import { stripeWebhook } from './top-ups/stripe-webhook.ts'
import { adjustQuota } from './users/adjust-quota.ts'
import { bindMail, unbindIdentity } from './users/bind-and-unbind-identities.ts'
import { checkIn, transferAffiliate } from './users/check-in-and-transfer-rewards.ts'
import { createUser, manageUser } from './users/create-and-manage-users.ts'
import { deleteSelf, eraseUser } from './users/erase-user-and-delete-self.ts'
import { startErasures } from './users/finish-erasures.ts'
import { register } from './users/register.ts'
import { updateSelf, updateSettings } from './users/update-self-and-settings.ts'
import { updateUser } from './users/update-user.ts'
import { createWakeSignal } from './wake-signal.ts'
import { limitWrites, rejectWritesOnDemoSite } from './write-limits-and-demo-site.ts'

const ACTIONS: readonly Action[] = [
  initializeSite,
  login,
  logout,
  sendCode,
  register,
  requestReset,
  resetPassword,
  bindMail,
  oauthState,
  authorize,
  oauthCallback,
  weChatLogin,
  weChatBind,
  telegramLogin,
  telegramBind,
  setOption,
  resetModelRatios,
  schedulePrices,
  cancelPrices,
  previewPrices,
  sendTestMail,
  createChannel,
  updateChannel,
  deleteChannel,
  deleteChannels,
  deleteDisabledChannels,
  copyChannel,
  setChannelsStatus,
  closeCircuits,
  tagChannels,
  updateTag,
  setTagStatus,
  reloadChannels,
  createToken,
  updateToken,
  deleteToken,
  deleteTokens,
  setTokenStatuses,
  createRedemption,
  updateRedemption,
  deleteRedemption,
  deleteRedemptionsByName,
  deleteDisabledRedemptions,
  disableRedemptions,
  redeemCode,
  sendMessage,
  editMessage,
  deleteMessage,
  readMessage,
  secondStep,
  secondStepPasskey,
  beginPasskeyLogin,
  passkeyLogin,
  endSession,
  endOtherSessions,
  resetAccessToken,
  revokeAccessToken,
  beginTotp,
  confirmTotp,
  disableTotp,
  replaceRecoveryCodes,
  beginPasskey,
  beginProof,
  proveSession,
  addPasskey,
  renamePasskey,
  removePasskey,
  createUser,
  updateUser,
  adjustQuota,
  updateSelf,
  deleteSelf,
  updateSettings,
  transferAffiliate,
  checkIn,
  quoteTopUp,
  placeOrder,
  notifyEpay,
  stripeWebhook,
  refundOrder,
  manageUser,
  resetSecondFactor,
  unbindIdentity,
  eraseUser,
  recomputeCalls,
  repriceCalls,
  previewCorrection,
  applyCorrection,
  importProviderInvoice,
  deleteProviderInvoice,
  requestVerification,
  requestRebuild,
  acknowledgeRefusedCosignature,
  requestScratchCopy,
  deleteScratchCopy,
]

export type WriteApiDeps = {
  readonly core: Core
  readonly freshness: Pick<Freshness, 'waitFor'>
  /** The channel types that the relay supports, with the fields that each of them requires. */
  readonly servedTypes: ServedTypes
  /**
   * Prints a line when the server is ready. `{url}` in the line is replaced by the server's
   * address.
   */
  readonly printLine?: (line: string, when: 'ready') => void
}

/**
 * Registers the write routes and starts the background jobs of the write API. `app` must have been
 * created with `createHttpApp`.
 */
export async function registerWriteApi(app: FastifyInstance, apiDeps: WriteApiDeps): Promise<void> {
  const { core, freshness, servedTypes, printLine } = apiDeps
  const runExclusive = createKeyedMutex()
  const upstreams = operatorPolicy(core.config)
  const outbound = createOutbound(upstreams, PROVIDER_LIMITS)
  app.addHook('onClose', () => outbound.close())
  const deps: Deps = {
    core,
    freshness,
    servedTypes,
    runExclusive,
    nextIds: createNextIds(core, runExclusive),
    loginGuard: createLoginGuard(core.limits, core.vault),
    failedLogins: recordFailedLogins(core),
    shownBalances: await createShownBalances(core),
    shownBudgets: await createShownBudgets(core),
    setupToken: createSetupToken(core.vault),
    mailer: createSiteMailer(core),
    humanCheck: createHumanCheck(core),
    providers: createProviders(core, outbound),
    outbound,
    upstreams,
    erasureSignal: createWakeSignal(),
  }
  await app.register(async (scope) => {
    rejectWritesOnDemoSite(scope, core)
    limitWrites(scope, core)
    sealClientAddresses(scope, core.vault)
    for (const register of ACTIONS) register(scope as unknown as Api, deps)
  })
  const priceSchedule = startPriceSchedule(core)
  const findingNotices = startFindingNotices(deps)
  const corrections = startCorrections(deps)
  const erasures = startErasures(deps, app.gate.sessions)
  const removals = [startProviderInvoiceRemovals(deps), startTextRemovals(deps)]
  const webhooks = createOutbound(userPolicy, WEBHOOK_LIMITS)
  const transports = { mailer: deps.mailer, outbound: webhooks }
  const warnings = startQuotaWarnings({ core, freshness, transports })
  app.addHook('onClose', async () => {
    const jobs = [priceSchedule, warnings, findingNotices, corrections, erasures, ...removals]
    await Promise.all([...jobs, deps.failedLogins].map((job) => job.stop()))
    await webhooks.close()
  })
  app.addHook('onClose', () => deps.humanCheck.close())
  await warnOfPartialConfigAtStart(core)
  const site = await core.actors.stateOf(siteDecider, SITE_STREAM)
  if (!site.isInitialized) {
    const { text } = deps.setupToken
    printLine?.(
      `First run: open {url}/setup?token=${text} (the token is required from other machines)`,
      'ready',
    )
  }
}
