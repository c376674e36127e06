import { randomBytes } from 'node:crypto'
import { beforeAll, expect, it } from 'vitest'
import { createProviderMessages } from '#infra/provider-messages/store-provider-error-messages.ts'
import type { LogOther, LogPage } from '#read-api/contract/logs.ts'
import {
  aCall,
  admitted,
  channelCreated,
  granted,
  NOW,
  releasedCall,
  sealed,
  settledCall,
  tokenCreated,
} from '#test/projections/fixture.ts'
import { startedOnce } from '#test/support/started-by-hook.ts'
import { ADMIN, ALICE, apiFixture } from './fixture.ts'

const api = startedOnce(apiFixture)
let admin: Record<string, string>
let alice: Record<string, string>
/** The id begins with the time of the request, which is long ago. */
const ofAlice = () => {
  const call = `00000000-0000-7000-8000-${randomBytes(6).toString('hex')}`
  return aCall({ userId: ALICE, tokenId: 1, call })
}
const shown = ofAlice()
const hidden = ofAlice()
const unknown = ofAlice()
const settled = ofAlice()

beforeAll(async () => {
  admin = await api.logIn(ADMIN)
  alice = await api.logIn(ALICE)
  const messages = await createProviderMessages(api.core.pg, (error) => {
    throw error
  })
  const add = (call: string, text: string, isShown: boolean): void =>
    messages.add({ call, userId: ALICE, message: sealed(text), isShown, at: NOW })
  add(shown.call, 'The model is overloaded.', true)
  add(hidden.call, 'Your account *** is suspended.', false)
  add(settled.call, 'of a call that succeeded', true)
  await messages.flush()
  await api.settled(
    await api.append([
      channelCreated(1, 'simulated'),
      tokenCreated(1, ALICE, 'laptop'),
      granted(ALICE, 1_000_000),
      ...[shown, hidden, unknown].flatMap((call) => [admitted(call), releasedCall(call)]),
      admitted(settled),
      settledCall(settled, 10),
    ]),
  )
})

const messageOf = async (call: string, path: string, headers: Record<string, string>) => {
  const { body } = await api.get<LogPage>(`${path}?request_id=${call}`, headers)
  const [row] = body.data.items
  return (JSON.parse(row?.other ?? '{}') as LogOther).provider_message
}

it('the row of a failed call shows the provider’s message to its user and to admins', async () => {
  expect(await messageOf(shown.call, '/api/log/self/', alice)).toBe('The model is overloaded.')
  expect(await messageOf(shown.call, '/api/log/', admin)).toBe('The model is overloaded.')
})

it('a provider’s message that the caller did not receive is visible only to admins', async () => {
  expect(await messageOf(hidden.call, '/api/log/self/', alice)).toBeUndefined()
  expect(await messageOf(hidden.call, '/api/log/', admin)).toBe('Your account *** is suspended.')
})

it('a provider’s message is absent if it is unknown or if the call succeeded', async () => {
  expect(await messageOf(unknown.call, '/api/log/', admin)).toBeUndefined()
  expect(await messageOf(settled.call, '/api/log/', admin)).toBeUndefined()
})
