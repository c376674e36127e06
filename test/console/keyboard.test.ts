import type { Locator } from 'playwright-core'
import { expect, it } from 'vitest'
import { en } from '#test/support/console-texts.ts'
import { ROOT_USER } from './support/admin-site.ts'
import { pageFixture } from './support/console-fixture.ts'
import { fakeLive } from './support/fake-live-socket.ts'
import { ok } from './support/fake-site.ts'
import { logRoutes, manyRows } from './usage-log/fake-usage-log.ts'

const app = pageFixture()
const PRESSES_MAX = 120

/**
 * Presses Tab until the element has the focus and is visible. Fails if no number of presses reaches
 * it. The element is looked up once, because a search by role and name computes the names of all
 * elements of the page; it is looked up again if it was replaced by another one.
 */
async function tabTo(place: Locator): Promise<void> {
  const find = () => place.first().elementHandle()
  let element = await find()
  for (let presses = 0; presses < PRESSES_MAX; presses += 1) {
    const state = await element?.evaluate((one) =>
      one === document.activeElement ? 'focused' : one.isConnected ? 'waiting' : 'replaced',
    )
    if (state === 'focused') break
    if (state === 'replaced') element = await find()
    else await app.page.keyboard.press('Tab')
  }
  const [isThere, outline] = await place
    .first()
    .evaluate((one) => [one === document.activeElement, getComputedStyle(one).outlineStyle])
  expect(isThere, String(place)).toBe(true)
  expect(outline, `${place} shows its focus`).not.toBe('none')
}

async function press(place: Locator): Promise<void> {
  await tabTo(place)
  await app.page.keyboard.press('Enter')
}

async function type(place: Locator, text: string): Promise<void> {
  await tabTo(place)
  await app.page.keyboard.type(text)
}

const button = (name: string) => app.page.getByRole('button', { name, exact: true })
const link = (name: string) => app.page.getByRole('link', { name, exact: true })
const title = (name: string) => app.page.getByRole('heading', { level: 1, name }).waitFor()
const sent = (call: string) =>
  app.site.calls.filter(({ method, path }) => `${method} ${path}` === call).length

it('a user gets from the login to the log of a call by keyboard alone', async () => {
  const { page, site } = app
  const logs = Object.entries(logRoutes(() => manyRows(3)))
  Object.assign(site.routes, Object.fromEntries(logs.filter(([name]) => name.includes('/log/'))))
  site.routes['POST /api/user/login'] = () => ok(ROOT_USER)
  await fakeLive(page)
  await page.goto(`${site.url}/login`)
  await page.getByLabel(en('auth.password'), { exact: true }).waitFor()
  await page.keyboard.type('root')
  await type(page.getByLabel(en('auth.password'), { exact: true }), 'correct horse')
  await page.keyboard.press('Enter')
  await title(en('shell.tokens'))

  await press(link(en('shell.channels')))
  await press(button(en('shared.newChannel')))
  const drawer = page.getByRole('dialog')
  await type(drawer.getByLabel(en('shared.name')), 'Mine')
  await type(drawer.getByRole('textbox', { name: en('shared.key'), exact: true }), 'sk-upstream')
  await type(drawer.getByRole('combobox', { name: en('shared.models') }), 'gpt-9')
  await page.keyboard.press('Enter')
  await press(drawer.getByRole('button', { name: en('channelForm.createAction') }))
  await press(drawer.getByRole('button', { name: en('channelForm.unpricedLater') }))
  await drawer.waitFor({ state: 'detached' })
  expect(sent('POST /api/channel/')).toBe(1)

  await press(link(en('shell.settings')))
  await press(button(en('pricing.addModel')))
  await type(drawer.getByLabel(en('pricing.modelName')), 'gpt-9')
  await type(drawer.getByLabel(en('pricing.inputPriceLabel')), '2.5')
  await page.keyboard.press('Enter')
  await drawer.waitFor({ state: 'detached' })
  await press(button(en('shared.saveSettings')))
  await page.getByText(en('settings.noChanges')).waitFor()
  expect(sent('PUT /api/option/')).toBe(1)

  await press(link(en('shell.tokens')))
  await press(button(en('tokens.create')))
  await type(drawer.getByLabel(en('shared.name')), 'mine')
  await page.keyboard.press('Enter')
  await page.getByRole('dialog', { name: en('tokens.createdTitle') }).waitFor()
  await page.keyboard.press('Escape')
  await drawer.waitFor({ state: 'detached' })
  expect(sent('POST /api/token/')).toBe(1)

  await press(link(en('shell.usageLog')))
  // The page of tokens, which also has a grid, is shown until the usage log is loaded.
  await title(en('shell.usageLog'))
  await tabTo(page.getByRole('grid'))
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Enter')
  await page.getByText(en('logDetails.price.title')).waitFor()
})
