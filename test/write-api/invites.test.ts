import { beforeAll, describe, expect, it } from 'vitest'
import { codeOfId } from '#infra/vault/id-code.ts'
import type { User } from '#read-api/contract/users.ts'
import { startedOnce } from '#test/support/started-by-hook.ts'
import { inviterOf, inviteSteps } from '#write-api/users/create-user-account.ts'
import { fifty, PASSWORD, seededFixture } from './write-fixture.ts'

const fixture = startedOnce(seededFixture)

const set = (key: string, value: string) =>
  fixture.root.call('PUT', '/api/option/', { body: { key, value } })

beforeAll(async () => {
  await set('AffEnabled', 'true')
  await set('QuotaForInviter', '700000')
  await set('QuotaForInvitee', '20000')
})

const codeOf = (id: number) => codeOfId(fixture.core.vault, id)

describe('an invitation', () => {
  it('rewards both users once, even if the registration is reported fifty times', async () => {
    const { core, user, admin } = fixture
    const context = { actor: 'user:2', cause: 'test', at: core.now() }
    await fifty(async () => {
      const invite = { inviterId: user.id, inviteeId: admin.id }
      const outcome = await core.actors.handleTogether(await inviteSteps(fixture, invite), context)
      expect(outcome.isDone).toBe(true)
    })
    const head = { 'x-after-position': String(await fixture.head()) }
    const own = await user.call<User>('GET', '/api/user/self', { headers: head })
    const rewarded = { aff_count: 1, aff_quota: 700_000, aff_history_quota: 700_000, quota: 0 }
    expect(own.data).toMatchObject(rewarded)
    const invitee = await fixture.root.call<User>('GET', `/api/user/${admin.id}`)
    expect(invitee.data.quota).toBe(20_000)
    expect(await inviteSteps(fixture, { inviterId: null, inviteeId: 9 })).toEqual([])
  })

  it('is found by its code unless the inviter is banned or invitations are off', async () => {
    const { user, root } = fixture
    expect(await inviterOf(fixture, codeOf(user.id))).toBe(user.id)
    expect(await inviterOf(fixture, codeOf(99))).toBe(null)
    expect(await inviterOf(fixture, 'nobody')).toBe(null)
    await set('AffEnabled', 'false')
    expect(await inviterOf(fixture, codeOf(user.id))).toBe(null)
    await set('AffEnabled', 'true')
    const manage = (action: string) =>
      root.call('POST', '/api/user/manage', { body: { id: user.id, action } })
    await fixture.whileUsersLag(async () => {
      await manage('disable')
      expect(await inviterOf(fixture, codeOf(user.id))).toBe(null)
    })
    await manage('enable')
    fixture.user = await fixture.logIn('user1')
  })
})

it('a registration with a code rewards the new user and the inviter in one append', async () => {
  const { admin, anybody, core } = fixture
  const body = { username: 'invited', password: PASSWORD, password2: PASSWORD }
  const aff_code = codeOf(admin.id).toUpperCase()
  const registered = await anybody('POST', '/api/user/register', { body: { ...body, aff_code } })
  expect(registered).toMatchObject({ success: true })
  const { id, call } = await fixture.logIn('invited')
  const headers = { 'x-after-position': String(await fixture.head()) }
  const own = await call<User>('GET', '/api/user/self', { headers })
  expect(own.data).toMatchObject({ quota: 20_000, inviter_id: admin.id })
  const inviter = await admin.call<User>('GET', '/api/user/self', { headers })
  expect(inviter.data).toMatchObject({ aff_count: 1, aff_quota: 700_000 })
  const [rewarded] = await core.store.readStream(`account-${admin.id}`, 1)
  const [created] = await core.store.readStream(`user-${id}`)
  expect(rewarded).toMatchObject({ type: 'InviteRewarded', data: { inviteeId: id } })
  expect(rewarded?.meta).toEqual(created?.meta)
})

describe('the rewards of invitations', () => {
  const transfer = (quota: number) =>
    fixture.user.call('POST', '/api/user/aff_transfer', { body: { quota } })
  const self = async () => {
    const headers = { 'x-after-position': String(await fixture.head()) }
    return (await fixture.user.call<User>('GET', '/api/user/self', { headers })).data
  }

  it('can be transferred from one dollar up to the available amount', async () => {
    for (const quota of [0, 499_999]) {
      const refused = await transfer(quota)
      expect(refused).toMatchObject({ status: 200, code: 'TransferTooSmall' })
      expect(refused.message).toBe('划转金额最低为 500000')
    }
    expect(await transfer(700_001)).toMatchObject({ status: 200, code: 'InsufficientAffiliate' })
    for (const quota of [-1, 0.5, '500000', null, undefined]) {
      expect((await transfer(quota as number)).status, String(quota)).toBe(400)
    }
    expect(await self()).toMatchObject({ quota: 0, aff_quota: 700_000 })
  })

  it('are transferred once when fifty transfers run at once', async () => {
    const answers = await fifty(() => transfer(500_000))
    expect(answers.filter(({ success }) => success)).toHaveLength(1)
    const others = answers.filter(({ success }) => !success)
    expect(new Set(others.map(({ code }) => code))).toEqual(new Set(['InsufficientAffiliate']))
    const left = { quota: 500_000, aff_quota: 200_000, aff_history_quota: 700_000, aff_count: 1 }
    expect(await self()).toMatchObject(left)
    const events = await fixture.core.store.readStream(`account-${fixture.user.id}`)
    expect(events.map(({ type }) => type)).toEqual(['InviteRewarded', 'AffiliateTransferred'])
  })

  it('belong to an invitation code that never changes and differs between users', async () => {
    const { data } = await fixture.user.call<string>('GET', '/api/user/aff')
    expect(data).toBe(codeOf(fixture.user.id))
    expect((await fixture.admin.call<string>('GET', '/api/user/aff')).data).not.toBe(data)
  })
})
