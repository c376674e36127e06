import { describe, expect, it } from 'vitest'
import { startingWith, textPattern, zh } from '#test/support/console-texts.ts'
import { openAsRoot } from '../support/admin-site.ts'
import { pageFixture } from '../support/console-fixture.ts'
import { ok, refused } from '../support/fake-site.ts'
import { user } from '../support/user-routes.ts'

const app = pageFixture({ language: 'zh' })

const open = (path = '/admin/users') => app.openAsRoot(path)
const bodies = (method: string, path: string) =>
  app.site.calls.filter((c) => c.method === method && c.path === path).map(({ body }) => body)
const said = (text: string) => app.page.getByText(text, { exact: true }).first().waitFor()
const rowOf = (name: string) => app.page.getByRole('row').filter({ hasText: name })
const dialog = () => app.page.getByRole('dialog')
const save = () =>
  dialog()
    .getByRole('button', { name: zh('shared.saveChanges') })
    .click()

describe('the list of users', () => {
  it('is searched by keyword and group, both in the URL', async () => {
    const { page, site } = app
    await open()
    await page.getByRole('searchbox').fill('mia')
    await page.getByRole('combobox', { name: zh('ui.groupName') }).selectOption('vip')
    await page.getByRole('button', { name: zh('shared.searchAction') }).click()
    await page.waitForURL(/keyword=mia.*group=vip/)
    await rowOf('ada').waitFor({ state: 'detached' })
    const sought = site.calls.filter(({ path }) => path === '/api/user/search')
    expect(Object.fromEntries(sought.at(-1)?.query ?? [])).toEqual({
      ...{ keyword: 'mia', group: 'vip', p: '0', page_size: '10' },
    })
  })

  it('offers no action on deleted users, and none on root that would remove it', async () => {
    const { page } = app
    await open()
    await expect
      .poll(() => rowOf(zh('users.state.deactivated')).getByRole('button').count())
      .toBe(0)
    await expect.poll(() => rowOf(zh('users.state.erased')).getByRole('switch').count()).toBe(0)
    await expect
      .poll(() => rowOf(zh('users.state.erased')).getByText(zh('shared.level.user')).count())
      .toBe(0)
    await page.getByRole('button', { name: zh('shared.moreActions', { name: 'root' }) }).click()
    await expect
      .poll(() => page.getByRole('menuitem').allTextContents())
      .toEqual([zh('ui.editRow'), zh('users.adjust')])
    await page.keyboard.press('Escape')
    // A user without a name is shown by the id, and only once.
    await page.setViewportSize({ width: 390, height: 860 })
    const card = page.locator('.tg-card').filter({ hasText: zh('users.state.erased') })
    const shown = card.getByText('#7', { exact: true }).filter({ visible: true })
    await expect.poll(() => shown.count()).toBe(1)
  })

  it('bans a user at once, with an Undo; promotes and deactivates on confirmation', async () => {
    const { page } = app
    await open()
    await page.getByRole('switch', { name: zh('users.toggle', { name: 'mia' }) }).click()
    await said(zh('users.done'))
    await page.getByRole('button', { name: zh('shared.undo') }).click()
    const choose = async (item: string) => {
      await page.getByRole('button', { name: zh('shared.moreActions', { name: 'mia' }) }).click()
      await page.getByRole('menuitem', { name: item }).click()
      await page.getByRole('alertdialog').getByRole('button', { name: item }).click()
    }
    await choose(zh('users.promote'))
    await rowOf('mia').getByText(zh('shared.level.admin'), { exact: true }).waitFor()
    await choose(zh('users.delete'))
    await rowOf('mia').getByText(zh('users.state.deactivated')).waitFor()
    const actions = ['disable', 'enable', 'promote', 'delete'].map((action) => ({ id: 3, action }))
    expect(bodies('POST', '/api/user/manage')).toEqual(actions)
  })
})

describe('the user drawers', () => {
  it('report missing values of a new user, and keep the typed text after a refusal', async () => {
    const { page } = app
    await open()
    await page.getByRole('button', { name: zh('users.create') }).click()
    const add = () =>
      dialog()
        .getByRole('button', { name: zh('users.create') })
        .click()
    await add()
    await said(zh('users.error.bothMissing'))
    await dialog().getByLabel(zh('auth.name')).fill('mia')
    await dialog()
      .getByLabel(startingWith(zh('auth.password')))
      .fill('correct horse')
    await add()
    await said('The username is taken')
    const name = dialog().getByLabel(zh('auth.name'))
    await dialog().locator('[aria-invalid="true"]:focus').waitFor()
    await expect.poll(() => name.getAttribute('aria-invalid')).toBe('true')
    await expect.poll(() => page.locator('.tg-toast').count()).toBe(0)
    await name.fill('zoe')
    await expect.poll(() => page.getByText('The username is taken').count()).toBe(0)
    await add()
    await said('The user cannot be created')
    await page.setViewportSize({ width: 390, height: 860 })
    const edge = async (of: string, end: number) => {
      const box = await page.locator(of).last().boundingBox()
      return (box?.y ?? Number.NaN) + end * (box?.height ?? 0)
    }
    await expect
      .poll(async () => {
        const [top, bottom] = [await edge('.tg-toaster', 0), await edge('.tg-toaster', 1)]
        return (
          top > (await edge('.tg-drawer-head', 1)) && bottom < (await edge('.tg-drawer-foot', 0))
        )
      })
      .toBe(true)
    await page.setViewportSize({ width: 1280, height: 860 })
    await dialog().getByLabel(zh('auth.name')).fill('nora')
    await add()
    await said(zh('users.userCreated'))
    await rowOf('nora').waitFor()
  })

  it('have a URL for each user, and send only what changed with its reason', async () => {
    const { page } = app
    await open('/user/edit/3')
    await dialog().getByText('bank transfer no. 17').waitFor()
    await dialog().getByText('88213').waitFor()
    for (const name of [zh('shared.balance'), zh('shared.quota')]) {
      await expect.poll(() => dialog().getByRole('textbox', { name }).count()).toBe(0)
    }
    await dialog().getByLabel(zh('ui.groupName')).selectOption('default')
    await save()
    await dialog().getByText(zh('users.error.reasonMissing')).waitFor()
    await dialog().getByLabel(zh('users.reason')).fill('invoice 18')
    await page.route('**/api/user/', (route) => route.abort(), { times: 1 })
    await save()
    await said(zh('users.updateFailed'))
    await save()
    await said(zh('users.saved'))
    expect(bodies('PUT', '/api/user/')).toEqual([{ id: 3, group: 'default', reason: 'invoice 18' }])
    await page.waitForURL(/\/admin\/users$/)
  })

  it('reset a lost second factor after the admin has typed the name', async () => {
    app.site.routes['POST /api/user/reset_second_factor'] = () => ok(null)
    await open('/user/edit/3')
    await dialog()
      .getByRole('button', { name: zh('users.secondFactorOpen') })
      .click()
    const asking = app.page.getByRole('alertdialog', {
      name: zh('users.secondFactorTitle', { name: 'mia' }),
    })
    await asking.getByRole('button', { name: zh('users.secondFactor') }).click()
    await said(zh('users.error.nameDiffers'))
    await asking.getByRole('textbox').fill('mia')
    await asking.getByRole('button', { name: zh('users.secondFactor') }).click()
    await said(zh('users.secondFactorDone'))
    expect(bodies('POST', '/api/user/reset_second_factor')).toEqual([{ id: 3 }])
    await asking.waitFor({ state: 'detached' })
    // A user without a second factor has no button to remove it.
    const bare = user({ id: 3, username: 'mia', role: 1, has_second_factor: false })
    app.site.routes['GET /api/user/3'] = () => ok(bare)
    await open('/user/edit/3')
    await dialog().getByText(zh('oauth.bindings')).waitFor()
    await expect
      .poll(() =>
        dialog()
          .getByRole('button', { name: zh('users.secondFactorOpen') })
          .count(),
      )
      .toBe(0)
  })

  it('report an unknown user for an invalid URL', async () => {
    await open('/user/edit/abc')
    await dialog().getByRole('alert').getByText(zh('users.missing'), { exact: true }).waitFor()
  })

  it('erase a deactivated user after the admin has typed the name', async () => {
    await open('/user/edit/6')
    await dialog()
      .getByRole('button', { name: zh('users.eraseOpen') })
      .click()
    const asking = app.page.getByRole('alertdialog')
    await asking.getByRole('textbox').fill('lef')
    await asking.getByRole('button', { name: zh('users.eraseAction') }).click()
    await said(zh('users.error.nameDiffers'))
    await asking.getByRole('textbox').fill('left')
    await asking.getByRole('button', { name: zh('users.eraseAction') }).click()
    await said(zh('users.erased'))
    await rowOf('#6').getByText(zh('users.state.erased')).waitFor()
    expect(bodies('POST', '/api/user/erase')).toEqual([{ id: 6, username: 'left' }])
  })
})

describe('the adjustment of quota', () => {
  const named = (name: RegExp) => app.page.getByRole('dialog', { name })
  const asking = () =>
    named(textPattern('zh', 'users.adjustTitle')).or(
      named(textPattern('zh', 'users.adjustManyTitle_other')),
    )
  const sent = () => bodies('POST', '/api/user/quota') as { request_id: string }[]

  it('adds an amount to the current balance, from the row and from the drawer', async () => {
    const { page } = app
    await open()
    await page.getByRole('button', { name: zh('shared.moreActions', { name: 'mia' }) }).click()
    await page.getByRole('menuitem', { name: zh('users.adjust') }).click()
    await asking().getByText('$10.00', { exact: true }).waitFor()
    await asking()
      .getByRole('button', { name: zh('users.adjustAction.add') })
      .click()
    await asking().getByText(zh('users.error.amountInvalid')).waitFor()
    await asking().getByText(zh('users.error.reasonMissing')).waitFor()
    await asking().getByLabel(zh('users.amountInDollars')).fill('0.0000001')
    await asking().getByText(zh('users.error.amountInvalid')).waitFor()
    await asking().getByLabel(zh('users.amountInDollars')).fill('2.500002')
    await asking()
      .getByText(zh('users.adjustUnits', { quota: '1,250,001' }))
      .waitFor()
    await asking().getByText('$12.500002', { exact: true }).waitFor()
    await asking().getByLabel(zh('users.reason')).fill('invoice 18')
    // If no response arrives, the console sends the same change again.
    await page.route('**/api/user/quota', (route) => route.abort(), { times: 1 })
    await asking()
      .getByRole('button', { name: zh('users.adjustAction.add') })
      .click()
    await page.locator('.tg-toast').first().waitFor()
    await page.keyboard.press('Enter')
    await said(zh('users.adjusted_one', { count: 1 }))
    await asking().waitFor({ state: 'detached' })
    await rowOf('mia').getByText('$12.50', { exact: true }).waitFor()
    expect(sent()).toEqual([
      {
        ...{ id: 3, action: 'add', amount: 1_250_001, reason: 'invoice 18' },
        request_id: expect.stringMatching(/^[0-9a-f]{32}$/),
      },
    ])
    await rowOf('mia').click()
    await dialog()
      .getByRole('button', { name: zh('users.adjustOpen') })
      .click()
    await asking().getByText(zh('users.adjustDeduct'), { exact: true }).click()
    await asking().getByLabel(zh('users.amountInDollars')).fill('13')
    await asking().getByText(zh('users.balanceShort')).waitFor()
    await asking().getByLabel(zh('users.reason')).fill('mistake')
    await asking()
      .getByRole('button', { name: zh('users.adjustAction.deduct') })
      .click()
    await asking().getByText(zh('users.error.amountAboveBalance')).waitFor()
    expect(sent()).toHaveLength(1)
    await asking().getByLabel(zh('users.amountInDollars')).fill('12.500002')
    await asking()
      .getByRole('button', { name: zh('users.adjustAction.deduct') })
      .click()
    await asking().waitFor({ state: 'detached' })
    await dialog().getByText('$0.00', { exact: true }).waitFor()
  })

  it('changes several users at once, and keeps the refused ones on screen', async () => {
    const { page } = app
    await open()
    for (const name of ['mia', 'ada', 'spammer']) await rowOf(name).getByRole('checkbox').check()
    await page.getByText(zh('shared.usersSelected_one', { count: 3 })).waitFor()
    await page.getByRole('button', { name: zh('users.adjust'), exact: true }).click()
    await asking().getByText(zh('users.adjustDeduct'), { exact: true }).click()
    await asking().getByLabel(zh('users.amountInDollars')).fill('1')
    await asking().getByLabel(zh('users.reason')).fill('audit')
    await asking()
      .getByRole('button', { name: zh('users.adjustAction.deduct') })
      .click()
    await said(zh('users.adjusted_other', { count: 2 }))
    await asking().getByRole('alert').filter({ hasText: 'spammer has only' }).waitFor()
    await expect.poll(() => asking().getByRole('rowheader').count()).toBe(1)
    expect(sent()).toMatchObject([{ ids: [4, 3, 2], action: 'deduct', amount: 500_000 }])
    await page.keyboard.press('Escape')
    await asking().waitFor({ state: 'detached' })
  })
})

describe('the page of the own account', () => {
  const submit = () => app.page.getByRole('button', { name: zh('shared.saveChanges') }).click()
  const field = (name: string) => app.page.getByLabel(name)

  it('has no group or quota, and requires the current password', async () => {
    await open('/user/edit')
    await expect.poll(() => dialog().count()).toBe(0)
    await expect.poll(() => field(zh('ui.groupName')).count()).toBe(0)
    await field(zh('ui.newPassword')).fill('new password')
    await submit()
    await said(zh('users.error.originalMissing'))
    await field(zh('users.originalPassword')).fill('old password')
    await field(zh('shared.displayName')).fill('Boss')
    await submit()
    await said(zh('users.saved'))
    expect(bodies('PUT', '/api/user/self')).toEqual([
      { display_name: 'Boss', password: 'new password', original_password: 'old password' },
    ])
    await app.page.getByRole('button', { name: /Boss \(@root\)/ }).click()
    await app.page.getByRole('menu').getByText('@root').waitFor()
  })

  it('sets a first password without a current one, or with a code if required', async () => {
    const { page, site } = app
    const own = user({ has_password: false, username: 'octo', role: 1 })
    site.routes['GET /api/user/self'] = () => ok(own)
    const needed = {
      ...(refused('Enter a password or a code').body as object),
      code: 'ProofNeeded',
    }
    site.routes['PUT /api/user/self'] = ({ body }) =>
      'code' in (body as object) ? ok(null) : { body: needed }
    await open('/user/edit')
    await field(zh('ui.newPassword')).fill('first password')
    await expect.poll(() => field(zh('users.originalPassword')).count()).toBe(0)
    await submit()
    await said('Enter a password or a code')
    await page.getByLabel(zh('credentials.codeOrRecovery')).fill('123456')
    await submit()
    await said(zh('users.saved'))
    const password = 'first password'
    expect(bodies('PUT', '/api/user/self')).toEqual([{ password }, { password, code: '123456' }])
  })

  it('accepts a passkey instead of that code', async () => {
    const { page, site } = app
    const own = user({ has_password: false, username: 'octo', role: 1 })
    site.routes['GET /api/user/self'] = () => ok(own)
    site.routes['GET /api/user/security'] = () => ok({ passkeys: [{ id: 1, name: 'Phone' }] })
    site.routes['POST /api/user/passkeys/proof'] = () => ok({ options: { challenge: 'AQ' } })
    const needed = {
      ...(refused('Enter a password or a code').body as object),
      code: 'ProofNeeded',
    }
    site.routes['PUT /api/user/self'] = ({ body }) =>
      'passkey' in (body as object) ? ok(null) : { body: needed }
    // Passkeys require a host name. They do not work for an IP address.
    const url = site.url.replace('127.0.0.1', 'localhost')
    await openAsRoot(page, { ...site, url }, '/user/edit')
    await page.evaluate(() => {
      const bytes = new Uint8Array([1]).buffer
      const response = { authenticatorData: bytes, clientDataJSON: bytes, signature: bytes }
      const shown = { id: 'AQ', rawId: bytes, type: 'public-key', response }
      const get = async () => ({ ...shown, getClientExtensionResults: () => ({}) })
      Object.defineProperty(navigator.credentials, 'get', { value: get })
    })
    await field(zh('ui.newPassword')).fill('first password')
    await submit()
    await page.getByRole('button', { name: zh('auth.usePasskey') }).click()
    await said(zh('users.saved'))
    const passkey = expect.objectContaining({ id: 'AQ' })
    expect(bodies('PUT', '/api/user/self').at(-1)).toEqual({ password: 'first password', passkey })
  })
})
