import type { FastifyRequest } from 'fastify'
import { optionFlag } from '#domain/options/option-registry.ts'
import { principalOfSession } from '#infra/http/access-checks.ts'
import { endpoint } from '#infra/http/endpoint-of-contract.ts'
import { httpError } from '#infra/http/http-error-class-and-catalogue.ts'
import { type Language, languageOf } from '#infra/http/request-language.ts'
import { done } from '#infra/http/response-envelope.ts'
import { type Mail, MailFailed } from '#infra/mail/port.ts'
import { allOptions } from '#projections/options/query.ts'
import type { Action, Deps } from '../action.ts'
import { registrationActions } from '../contract/registration-password-reset-and-setup.ts'
import { loginError } from '../sessions/login-and-registration-errors.ts'
import { findMailOwner } from '../users/bind-and-unbind-identities.ts'
import { assertRegistrationOpen } from '../users/register.ts'
import { checkMailDomain, mailAddressOf } from './mail-address.ts'
import {
  acquireMailPermit,
  browserBindingOf,
  CODE_MINUTES,
  type CodePurpose,
  issueMailCode,
} from './mail-codes.ts'
import { mailError } from './mail-errors.ts'
import { addressInUseMail, codeMail } from './mail-templates.ts'
import { siteNameOf } from './site-mailer-and-test-mail.ts'

/**
 * GET /api/verification: mails a code to an address. If an account already has the address, the
 * mail says so and contains no code. Exceptions are codes for notifications, and the address that
 * the caller's own account has. The response is the same in all cases.
 */
export const sendCode: Action = (api, deps) => {
  api.route({
    ...endpoint(registrationActions, 'GET /api/verification'),
    handler: async (request, reply) => {
      const { email, turnstile = '', purpose: requested } = request.query
      const { values } = await allOptions(deps.core.db)
      const purpose = await purposeOf(request, requested)
      if (purpose === 'register') await assertRegistrationByPasswordOpen(deps, values)
      const address = mailAddressOf(email)
      // The option with the allowed domains applies to account addresses, not to notification
      // addresses.
      if (requested !== 'notify') checkMailDomain(values, address)
      await deps.humanCheck.pass(request, 'verification', turnstile)
      const permit = await acquireMailPermit(deps.core, 'code', address, request.ip)
      const wording = { site: siteNameOf(values), language: languageOf(request) }
      try {
        await mailCode(deps, purpose, {
          address,
          browser: browserBindingOf(request, reply),
          ...wording,
        })
      } catch (error) {
        permit.release({ isRefunded: true })
        throw error
      }
      permit.release({ isRefunded: false })
      return done()
    },
  })
}

/**
 * Throws if users cannot register with a password, or if the site does not verify addresses. In
 * both cases, a code would be useless.
 */
async function assertRegistrationByPasswordOpen(
  { core }: Deps,
  values: ReadonlyMap<string, string>,
): Promise<void> {
  await assertRegistrationOpen(core.db, values)
  if (!optionFlag(values, 'PasswordRegisterEnabled')) throw loginError('PasswordRegistrationClosed')
  if (!optionFlag(values, 'EmailVerificationEnabled')) throw loginError('MailVerificationOff')
}

type RequestedPurpose = 'register' | 'bind' | 'notify' | undefined

/**
 * Returns the requested purpose of the code. The default is `bind` with a session and `register`
 * without a session. Throws `NotLoggedIn` if `bind` or `notify` is requested without a session. A
 * session counts only if the header `User-Id` contains the id of its user.
 */
async function purposeOf(
  request: FastifyRequest,
  requested: RequestedPurpose,
): Promise<CodePurpose> {
  if (requested === 'register') return 'register'
  const principal = await principalOfSession(request)
  if (principal !== null && request.headers['user-id'] === String(principal.userId)) {
    return requested === 'notify' ? `notify:${principal.userId}` : `bind:${principal.userId}`
  }
  if (requested !== undefined) throw httpError('NotLoggedIn')
  return 'register'
}

type CodeMailTarget = {
  readonly address: string
  readonly browser: string | null
  readonly site: string
  readonly language: Language
}

async function mailCode(
  deps: Deps,
  purpose: CodePurpose,
  { address, browser, site, language }: CodeMailTarget,
): Promise<void> {
  const owner = await findMailOwner(deps.core, address)
  const code = await issueMailCode(deps.core, purpose, address, browser)
  // Several accounts may use the same address for notifications. The code proves that the user
  // receives the mail to this address.
  const mayShare = purpose.startsWith('notify:')
  const isInUse = owner !== null && purpose !== `bind:${owner.id}` && !mayShare
  const message = isInUse
    ? addressInUseMail(language, site)
    : codeMail(language, site, code, CODE_MINUTES)
  await sendToVisitor(deps, { to: address, ...message })
}

/**
 * Sends a mail to a visitor. If the mail is not sent, throws an error that says no more than this,
 * or that mail settings are missing.
 */
async function sendToVisitor(
  { core, mailer }: Pick<Deps, 'core' | 'mailer'>,
  mail: Mail,
): Promise<void> {
  try {
    await mailer.send(mail)
  } catch (error) {
    if (!(error instanceof MailFailed)) throw error
    // NOTE: only the error's code is logged, because the mail server's response contains the
    // address.
    core.log.warn({ code: error.code }, 'sending a mail failed')
    throw mailError(error.code === 'not-set-up' ? 'MailNotSetUp' : 'MailNotSent')
  }
}
