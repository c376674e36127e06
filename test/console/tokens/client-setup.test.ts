import { beforeEach, describe, expect, it } from 'vitest'
import { chatTarget } from '#console/ui/chat-links/chat-links.ts'
import { CLIENTS, containerSiteOf, setupText } from '#console/ui/client-setup/clients.ts'
import { fullKey, maskedKey } from '#console/ui/elements/token-key.ts'
import { en } from '#test/support/console-texts.ts'
import { TOKENS } from '../support/admin-site.ts'
import { pageFixture } from '../support/console-fixture.ts'
import { ok } from '../support/fake-site.ts'

const VALUES = {
  site: 'https://api.example.com',
  name: "Bob's (shop)",
  key: 'sk-secret',
  model: 'it\'s "new" a/b',
  smallModel: 'small',
}
const TEMPLATES = Object.values(CLIENTS).flatMap((clients) =>
  clients.flatMap(({ setups }) => Object.values(setups)),
)
const filled = (template: string): string => setupText(template, VALUES)

/** Returns the parts of a shell command, in which single quotes are the only quotes. */
const shellTexts = (text: string): string[] =>
  [...text.matchAll(/'((?:[^']|'\\'')*)'/g)].map(([, part = '']) => part.replaceAll("'\\''", "'"))

describe('the setups of clients', () => {
  it.each(TEMPLATES)('%s has a text, the address and no open placeholder', (template) => {
    const text = filled(template)
    expect(text).not.toMatch(/\{\{|\}\}|undefined/)
    expect(decodeURIComponent(text)).toMatch(/api\.example\.com|GATEWAY_API_KEY|data=/)
  })

  it('quote a model name for the syntax around it', () => {
    const { model } = VALUES
    for (const name of ['chat', 'messages', 'responses']) {
      const [body = ''] = shellTexts(filled(`curl-${name}`))
      expect(JSON.parse(body)).toMatchObject({ model })
    }
    expect(filled('curl-gemini')).toContain("models/it%27s%20%22new%22%20a%2Fb:generateContent'")
    expect(shellTexts(filled('claude-code-bash'))).toContain(model)
    expect(JSON.parse(filled('claude-code-settings')).env).toEqual({
      ANTHROPIC_BASE_URL: VALUES.site,
      ANTHROPIC_AUTH_TOKEN: VALUES.key,
      ANTHROPIC_MODEL: model,
      ANTHROPIC_DEFAULT_HAIKU_MODEL: 'small',
    })
    for (const template of ['openai-python', 'anthropic-typescript', 'codex-config']) {
      expect(filled(template)).toContain(JSON.stringify(model))
    }
  })

  it('use the API of chats in Vercel AI, because its default needs a provider that stores', () => {
    expect(filled('vercel-ai')).toContain('model: gateway.chat(')
  })

  it('open CC Switch with the address that each agent needs', () => {
    for (const [agent, path] of [
      ['claude', ''],
      ['codex', '/v1'],
      ['gemini', ''],
    ] as const) {
      const link = filled(`cc-switch-${agent}-link`)
      expect(chatTarget(link, VALUES.site)).toBe('window')
      expect(Object.fromEntries(new URL(link).searchParams)).toMatchObject({
        resource: 'provider',
        app: agent,
        name: VALUES.name,
        homepage: VALUES.site,
        endpoint: VALUES.site + path,
        apiKey: VALUES.key,
        model: VALUES.model,
      })
    }
  })

  it('open Cherry Studio with a text that it decodes, whatever the site is named', () => {
    const url = new URL(filled('cherry-studio-link'))
    const search = new URLSearchParams(url.search.replaceAll('+', '_').replaceAll('/', '-'))
    const data = (search.get('data') ?? '').replaceAll('_', '+').replaceAll('-', '/')
    const decoded = Buffer.from(data, 'base64').toString().replaceAll("'", '"')
    expect(JSON.parse(decoded.replaceAll(/[()]/g, ''))).toEqual({
      id: 'gateway',
      name: 'Bobs shop',
      type: 'openai',
      baseUrl: VALUES.site,
      apiKey: VALUES.key,
    })
  })

  it.each([
    ['http://localhost:3000', 'http://host.docker.internal:3000'],
    ['http://127.0.0.1:3000', 'http://host.docker.internal:3000'],
    ['http://[::1]:3000/base', 'http://host.docker.internal:3000/base'],
    ['https://api.example.com', 'https://api.example.com'],
    ['http://192.168.0.7:3000', 'http://192.168.0.7:3000'],
    ['http://localhost.example.com', 'http://localhost.example.com'],
  ])('reach a site at %s from a container at %s', (site, address) => {
    expect(containerSiteOf(site)).toBe(address)
    for (const template of ['open-webui-docker', 'lobechat-docker']) {
      const text = setupText(template, { ...VALUES, site })
      expect(text).toContain(`_URL='${address}/v1' \\\n`)
      const flags = text.split('\n').filter((line) => line.includes('--add-host'))
      const flag = '  --add-host=host.docker.internal:host-gateway \\'
      expect(flags).toEqual(address === site ? [] : [flag])
      expect(
        text
          .split('\n')
          .slice(0, -1)
          .every((line) => line.endsWith(' \\')),
      ).toBe(true)
    }
  })

  it('mask a key', () => {
    expect(maskedKey('sk-abcdefghijklmnopqrstuvwx')).toBe('sk-ab…uvwx')
  })
})

const KEY = fullKey(TOKENS[0]?.key ?? '')
const MODELS = ['gpt-4o', 'gpt-4o-mini', 'o3', 'claude-sonnet-4-5', 'gemini-2.5-pro']

describe('the drawer that shows how to use a key', () => {
  const app = pageFixture()
  const drawer = () => app.page.getByRole('dialog')
  const button = (name: string) => drawer().getByRole('button', { name, exact: true })
  const model = () => drawer().getByRole('combobox', { name: en('ui.model') })
  const copied = () => app.page.evaluate(() => navigator.clipboard.readText())

  async function openDrawer(name: string): Promise<void> {
    await app.page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
    await app.openAsRoot('/app/tokens')
    await app.page.getByRole('button', { name: en('shared.moreActions', { name }) }).click()
    await app.page.getByRole('menuitem', { name: en('clientSetup.title') }).click()
    await button('cURL').waitFor()
  }

  beforeEach(() => {
    app.site.routes['GET /api/user/models'] = () => ok(MODELS)
  })

  it('suggests a model for the client, shows the key masked and copies it complete', async () => {
    await openDrawer('production')
    await expect.poll(() => model().inputValue()).toBe('gpt-4o')
    await button('Claude Code').click()
    await expect.poll(() => button('Claude Code').getAttribute('aria-pressed')).toBe('true')
    await expect.poll(() => model().inputValue()).toBe('claude-sonnet-4-5')
    await drawer().getByRole('tabpanel').getByText(maskedKey(KEY)).waitFor()
    await button(en('clientSetup.copyText')).click()
    await button(en('ui.copied')).waitFor()
    expect(JSON.parse(await copied()).env).toEqual({
      ANTHROPIC_BASE_URL: app.site.url,
      ANTHROPIC_AUTH_TOKEN: KEY,
      ANTHROPIC_MODEL: 'claude-sonnet-4-5',
      ANTHROPIC_DEFAULT_HAIKU_MODEL: 'claude-sonnet-4-5',
    })
    await button('Cursor').click()
    await drawer()
      .getByText(en('clientSetup.calledFromServers', { name: 'Cursor' }))
      .waitFor()
    await button(en('clientSetup.copyField', { name: 'OpenAI API Key' })).click()
    await expect.poll(copied).toBe(KEY)
    expect(await app.page.content()).not.toContain(KEY)
  })

  it('offers only models that the token may call, and keeps a chosen one', async () => {
    await openDrawer('mobile app')
    await expect
      .poll(() => model().locator('option').allTextContents())
      .toEqual(['gpt-4o-mini', 'o3'])
    await model().selectOption('o3')
    await button('Gemini CLI').click()
    await expect.poll(() => model().inputValue()).toBe('o3')
    await drawer().getByText('GEMINI_MODEL="o3"').waitFor()
  })

  it('shows how a container reaches a site on the same computer', async () => {
    await openDrawer('production')
    await button('Open WebUI').click()
    const address = containerSiteOf(app.site.url)
    expect(address).not.toBe(app.site.url)
    await drawer()
      .getByText(en('clientSetup.runsInContainer', { name: 'Open WebUI', address }))
      .waitFor()
    await drawer().getByRole('tab', { name: 'Docker' }).click()
    await drawer().getByText('--add-host=host.docker.internal:host-gateway').waitFor()
  })

  it('opens an app with the complete key, which is nowhere on the page', async () => {
    await openDrawer('production')
    await app.page.evaluate(() => {
      window.open = (url) => {
        document.title = String(url)
        return null
      }
    })
    await button('CC Switch').click()
    await drawer().getByRole('tab', { name: 'Codex' }).click()
    expect(await app.page.content()).not.toContain(KEY)
    await button(en('clientSetup.open', { name: 'CC Switch' })).click()
    const opened = new URL(await app.page.title()).searchParams
    expect(opened.get('apiKey')).toBe(KEY)
    expect(opened.get('endpoint')).toBe(`${app.site.url}/v1`)
  })

  it('works by keyboard alone', async () => {
    await openDrawer('production')
    await button('Codex').focus()
    await app.page.keyboard.press('Enter')
    await drawer().getByText('env_key = "GATEWAY_API_KEY"').waitFor()
    await drawer().getByRole('tab', { selected: true }).focus()
    await app.page.keyboard.press('ArrowRight')
    await drawer().getByRole('tab', { name: 'Bash', selected: true }).waitFor()
    await app.page.keyboard.press('Tab')
    await app.page.keyboard.press('Enter')
    await expect.poll(copied).toBe(`export GATEWAY_API_KEY='${KEY}'\ncodex`)
  })
})

describe('the first steps of a user without a token', () => {
  const app = pageFixture()

  it('show a placeholder, and open no app with it', async () => {
    app.site.routes['GET /api/token/'] = () => ok({ items: [], page: 0, total: 0 })
    await app.openAsRoot('/app/start')
    const main = app.page.getByRole('main')
    await main.getByText('Bearer sk-…').waitFor()
    await main.getByText(en('clientSetup.keyMissing')).waitFor()
    await main.getByRole('button', { name: 'Cherry Studio' }).click()
    const open = main.getByRole('button', {
      name: en('clientSetup.open', { name: 'Cherry Studio' }),
    })
    await expect.poll(() => open.isDisabled()).toBe(true)
  })
})
