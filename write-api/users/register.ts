import type { FastifyRequest } from 'fastify'
import type { CommonQueryMethods } from 'slonik'
import { optionFlag, optionInteger } from '#domain/options/option-registry.ts'
import { usernameDecider } from '#domain/users/decide.ts'
import { usernameStream } from '#domain/users/events.ts'
import { addressKey } from '#infra/http/client-address-hash.ts'
import { endpoint } from '#infra/http/endpoint-of-contract.ts'
import { httpError } from '#infra/http/http-error-class-and-catalogue.ts'
import { success } from '#infra/http/response-envelope.ts'
import { isFull, type Permit } from '#infra/limits/port.ts'
import { allOptions, siteState } from '#projections/options/query.ts'
import { type Action, accepted, type Deps, waitUntilVisible } from '../action.ts'
import {
  type Register,
  registrationActions,
} from '../contract/registration-password-reset-and-setup.ts'
import { checkMailDomain, mailAddressOf } from '../mail/mail-address.ts'
import { verifyMailCode } from '../mail/mail-codes.ts'
import { loginError } from '../sessions/login-and-registration-errors.ts'
import { mailIdentity } from './bind-and-unbind-identities.ts'
import { createUserAccount, inviterOf } from './create-user-account.ts'
import { checkPassword } from './passwords.ts'
import { userError } from './user-errors.ts'
import { ACCOUNT_LIMITS, assertNotAnotherUsername, nameKeyOf, usernameOf } from './user-names.ts'

/**
 * Throws if registration is closed: by the option `RegisterEnabled`, in self-use mode, or before
 * the setup, because the first account belongs to the site's owner.
 */
export async function assertRegistrationOpen(
  db: CommonQueryMethods,
  values: ReadonlyMap<string, string>,
): Promise<void> {
  const isOpen = optionFlag(values, 'RegisterEnabled') && !optionFlag(values, 'SelfUseModeEnabled')
  const isSetUp = (await siteState(db)).rootUserId !== null
  if (!isOpen || !isSetUp) throw loginError('RegistrationClosed')
}

type Values = ReadonlyMap<string, string>

/** POST /api/user/register: creates an account with a username and password. */
export const register: Action = (api, deps) => {
  api.route({
    ...endpoint(registrationActions, 'POST /api/user/register'),
    handler: async (request, reply) => {
      const { body } = request
      const { values } = await allOptions(deps.core.db)
      await assertPasswordRegistrationOpen(deps, values)
      const username = validUsername(body)
      const address = addressOf(values, body)
      const permit = await acquireRegistrationPermit(deps, request)
      try {
        await deps.humanCheck.pass(request, 'register', request.query.turnstile ?? '')
        const registration = { username, address, values, body }
        const { id, outcome } = await create(deps, request, registration)
        await waitUntilVisible(deps, reply, ['users', 'balances'], accepted(outcome).position)
        return success({ id })
      } finally {
        permit.release({ isRefunded: false })
      }
    },
  })
}

async function assertPasswordRegistrationOpen({ core }: Deps, values: Values): Promise<void> {
  await assertRegistrationOpen(core.db, values)
  if (!optionFlag(values, 'PasswordRegisterEnabled')) throw loginError('PasswordRegistrationClosed')
}

function validUsername({ username, password, password2 = password }: Register): string {
  if (username.trim() === '' || password === '') throw userError('UserFieldsRequired')
  const name = usernameOf(username, ACCOUNT_LIMITS.usernameCharacters)
  checkPassword(password)
  if (password !== password2) throw userError('PasswordsDiffer')
  return name
}

/**
 * Returns the email address in a registration. The address must be verified and stored. Returns
 * null if the site does not verify addresses, because such a site stores no addresses.
 */
function addressOf(values: Values, { email = '', verification_code = '' }: Register) {
  if (!optionFlag(values, 'EmailVerificationEnabled')) return null
  const address = mailAddressOf(email)
  checkMailDomain(values, address)
  if (verification_code.trim() === '') throw loginError('MailCodeRequired')
  return address
}

const PER_IP_MAX = 60
const PER_IP_PERIOD_MS = 60_000
const CONCURRENT_MAX = 100

/**
 * Limits registrations to 60 per minute and IP address, and to 100 at the same time in total,
 * because each registration hashes a password.
 */
async function acquireRegistrationPermit({ core }: Deps, request: FastifyRequest): Promise<Permit> {
  const key = `register:${addressKey(core.vault, request.ip)}`
  const outcome = await core.limits.enter('register', [
    { kind: 'rate', key, max: PER_IP_MAX, periodMs: PER_IP_PERIOD_MS, isRefundable: false },
    { kind: 'permits', key: 'register', max: CONCURRENT_MAX },
  ])
  if (isFull(outcome)) throw httpError('TooManyRequests', {}, Math.ceil(outcome.waitMs / 1_000))
  return outcome
}

/**
 * Throws if the username is taken. The check comes before the mailed code is consumed and the
 * password is hashed. The append checks again, because another user may take the name after this
 * check.
 */
async function assertUsernameFree({ core }: Deps, username: string): Promise<void> {
  const stream = usernameStream(nameKeyOf(core.vault, username))
  const { userId } = await core.actors.stateOf(usernameDecider, stream)
  if (userId !== null) throw userError('UsernameTaken')
}

async function verifyAddress(
  { core }: Deps,
  request: FastifyRequest,
  { address, body }: Registration,
): Promise<void> {
  if (address === null) return
  const proof = { address, code: body.verification_code ?? '' }
  if (!(await verifyMailCode(core, request, 'register', proof))) throw loginError('MailCodeWrong')
  await assertNotAnotherUsername(core, address, null)
}

type Registration = {
  readonly username: string
  readonly address: string | null
  readonly values: Values
  readonly body: Register
}

/**
 * Creates accounts one at a time, because each creation hashes a password, and only a limited
 * number of passwords can be hashed at once.
 */
const create = (deps: Deps, request: FastifyRequest, registration: Registration) =>
  deps.runExclusive('create-user', async () => {
    await assertUsernameFree(deps, registration.username)
    await verifyAddress(deps, request, registration)
    return append(deps, request, registration)
  })

async function append(
  deps: Deps,
  request: FastifyRequest,
  { username, address, values, body }: Registration,
) {
  const inviterId = await inviterOf(deps, body.aff_code ?? '')
  const user = {
    username,
    displayName: username,
    password: body.password,
    role: 1,
    quota: BigInt(optionInteger(values, 'QuotaForNewUser')),
    reason: 'new-user',
    inviterId,
    identities: address === null ? [] : [mailIdentity(address)],
    request,
  } as const
  const context = { actor: 'system:register', cause: request.id, at: deps.core.now() }
  return createUserAccount(deps, user, context)
}
