import type { FastifyRequest } from 'fastify'
import type { CommonQueryMethods } from 'slonik'
import Type from 'typebox'
import { optionFlag, optionInteger } from '#domain/options/registry.ts'
import { usernameStream } from '#domain/user/events.ts'
import { usernameDecider } from '#domain/user/username.ts'
import { addressKey } from '#infra/http/address-key.ts'
import { success } from '#infra/http/envelope.ts'
import { httpError } from '#infra/http/http-errors.ts'
import { isFull, type Permit } from '#infra/limits/port.ts'
import { allOptions, siteState } from '#projections/options/query.ts'
import { Envelope } from '#read-api/contract/envelope.ts'
import { type Action, accepted, type Deps, waitUntilVisible } from '../action.ts'
import { HumanToken, Register } from '../contract/registration.ts'
import { checkMailDomain, mailAddressOf } from '../mail/mail-address.ts'
import { verifyMailCode } from '../mail/mail-codes.ts'
import { loginError } from '../sessions/login-errors.ts'
import { mailIdentity } from './bind-identity.ts'
import { createUserAccount, inviterOf } from './new-user.ts'
import { checkPassword } from './passwords.ts'
import { userError } from './user-errors.ts'
import { ACCOUNT_LIMITS, nameKeyOf, refuseNameOfAnother, usernameOf } from './user-names.ts'

/**
 * Strangers may make an account, by whichever way. A site for its own use takes none, and none is
 * taken before the site is set up: its first account is its owner's.
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

/** POST /api/user/register: an account for oneself, by name and password. */
export const register: Action = (api, deps) => {
  api.post(
    '/api/user/register',
    {
      schema: {
        summary: 'Register by name and password, with the code of a mail where that is asked for',
        querystring: HumanToken,
        body: Register,
        response: { 200: Envelope(Type.Object({ id: Type.Integer() })) },
      },
    },
    async (request, reply) => {
      const { body } = request
      const { values } = await allOptions(deps.core.db)
      await mayRegister(deps, values)
      const username = checked(body)
      const address = addressOf(values, body)
      const permit = await seatFor(deps, request)
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
  )
}

async function mayRegister({ core }: Deps, values: Values): Promise<void> {
  await assertRegistrationOpen(core.db, values)
  if (!optionFlag(values, 'PasswordRegisterEnabled')) throw loginError('PasswordRegistrationClosed')
}

function checked({ username, password, password2 = password }: Register): string {
  if (username.trim() === '' || password === '') throw userError('UserFieldsRequired')
  const name = usernameOf(username, ACCOUNT_LIMITS.usernameCharacters)
  checkPassword(password)
  if (password !== password2) throw userError('PasswordsDiffer')
  return name
}

/** null: none is asked for. An address without its code is nobody's: it is not kept. */
function addressOf(values: Values, { email = '', verification_code = '' }: Register) {
  if (!optionFlag(values, 'EmailVerificationEnabled')) return null
  const address = mailAddressOf(email)
  checkMailDomain(values, address)
  if (verification_code.trim() === '') throw loginError('MailCodeRequired')
  return address
}

const OF_IP_MAX = 60
const OF_IP_MS = 60_000
const AT_ONCE_MAX = 100

/** What a registration costs is a password's hash: an address has so many a minute. */
async function seatFor({ core }: Deps, request: FastifyRequest): Promise<Permit> {
  const key = `register:${addressKey(core.vault, request.ip)}`
  const outcome = await core.limits.enter('register', [
    { kind: 'rate', key, max: OF_IP_MAX, periodMs: OF_IP_MS, isRefundable: false },
    { kind: 'seats', key: 'register', max: AT_ONCE_MAX },
  ])
  if (isFull(outcome)) throw httpError('TooManyRequests', {}, Math.ceil(outcome.waitMs / 1_000))
  return outcome
}

/** Before the code is used up and a password hashed; the append decides. */
async function checkFree({ core }: Deps, username: string): Promise<void> {
  const stream = usernameStream(nameKeyOf(core.vault, username))
  const { userId } = await core.actors.stateOf(usernameDecider, stream)
  if (userId !== null) throw userError('UsernameTaken')
}

async function proveAddress(
  { core }: Deps,
  request: FastifyRequest,
  { address, body }: Registration,
): Promise<void> {
  if (address === null) return
  const shown = { address, code: body.verification_code ?? '' }
  if (!(await verifyMailCode(core, request, 'register', shown))) throw loginError('MailCodeWrong')
  await refuseNameOfAnother(core, address, null)
}

type Registration = {
  readonly username: string
  readonly address: string | null
  readonly values: Values
  readonly body: Register
}

/** One at a time: so many passwords at once would be refused as too many. */
const create = (deps: Deps, request: FastifyRequest, registration: Registration) =>
  deps.runExclusive('create-user', async () => {
    await checkFree(deps, registration.username)
    await proveAddress(deps, request, registration)
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
  } as const
  const context = { actor: 'system:register', cause: request.id, at: deps.core.now() }
  return createUserAccount(deps, user, context)
}
