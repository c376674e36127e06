import { beforeEach, expect, it } from 'vitest'
import type { LogEntry } from '#read-api/contract/logs.ts'
import { en, zh } from '#test/support/console-texts.ts'
import { lookFaults } from '../support/accessibility-faults.ts'
import { TOKENS } from '../support/admin-site.ts'
import { pageFixture } from '../support/console-fixture.ts'
import { type FakeCall, ok } from '../support/fake-site.ts'

const ANSWER = [
  '# Sums\n\nIt is **4**, by `2 + 2`. <b onclick="alert(1)">Tags</b> &amp; ',
  '[bad](javascript:alert(1)), [good](https://example.org/a) and ',
  '![a picture](https://example.org/x.png).\n\n',
  '| Sum | Is |\n|---|--:|\n| 2 + 2 | 4 |\n\n- one\n  - two\n- [x] done\n\n',
  '```ts\nconst four: number = 2 + 2 // a line that is longer than a phone is wide, ',
  'to be scrolled\n```\n',
]

const app = pageFixture()
/** The answer to the next call. Each test sets it. */
let answer: () => AsyncGenerator<string>

const chunk = (delta: object) => `data: ${JSON.stringify({ choices: [{ index: 0, delta }] })}\n\n`

async function* whole(): AsyncGenerator<string> {
  yield chunk({ role: 'assistant', reasoning_content: 'Two and two' })
  for (const content of ANSWER) yield chunk({ content })
  yield 'data: [DONE]\n\n'
}

async function* broken(): AsyncGenerator<string> {
  yield chunk({ content: 'So far' })
  const error = { message: 'The provider gave up.', code: 'upstream_error' }
  yield `data: ${JSON.stringify({ error })}\n\n`
}

const DOT =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
/** A picture of more than 200 000 characters. Bytes after the end of a PNG are ignored. */
const PICTURE = `data:image/png;base64,${DOT.replace(/=+$/, '')}${'A'.repeat(300_002)}`

async function* pictures(): AsyncGenerator<string> {
  yield chunk({ content: `A **cat**: ![image](${PICTURE.slice(0, 90)}` })
  yield chunk({ content: `${PICTURE.slice(90)}) and a dog` })
  const dog = { type: 'image_url', image_url: { url: `data:image/png;base64,${DOT}` } }
  const bird = { type: 'image_url', image_url: { url: 'https://example.org/bird.png' } }
  yield chunk({ content: '', images: [dog, bird] })
  yield 'data: [DONE]\n\n'
}

const CALL_PARTS = [
  { index: 0, id: 'a', type: 'function', function: { name: 'find_cats', arguments: '{"in":' } },
  { index: 1, id: 'b', type: 'custom', custom: { name: 'note', input: 'a cat' } },
  { index: 0, function: { arguments: '"Rome"}' } },
]

async function* audioAndTools(): AsyncGenerator<string> {
  yield chunk({ audio: { id: 'audio-1', transcript: 'Good ' } })
  yield chunk({ audio: { data: 'AAAA', transcript: 'morning' } })
  for (const part of CALL_PARTS) yield chunk({ tool_calls: [part] })
  yield 'data: [DONE]\n\n'
}

/** An answer that starts and never ends, until the caller disconnects. */
async function* endless(): AsyncGenerator<string> {
  yield chunk({ content: 'Once upon a time' })
  await new Promise((resume) => setTimeout(resume, 30_000))
}

const row = (requestId: string): Partial<LogEntry> => ({
  id: 77,
  request_id: requestId,
  quota: 1_234,
  prompt_tokens: 21,
  completion_tokens: 1_048,
})
beforeEach(async () => {
  answer = whole
  app.site.routes['POST /pg/chat/completions'] = () => ({
    headers: { 'content-type': 'text/event-stream', 'x-request-id': 'call-1' },
    body: answer(),
  })
  app.site.routes['GET /api/log/self/'] = ({ query }) => {
    const items = [row(query.get('request_id') ?? '')]
    return ok({ items, page: 0, total: 1 })
  }
})

async function open(language: 'zh' | 'en' = 'en', query = ''): Promise<void> {
  await app.openPage({ language })
  await app.openAsRoot(`/playground${query}`)
}

const chatCalls = (): FakeCall[] => app.site.calls.filter(({ path }) => path.startsWith('/pg/'))
const lastBody = () => chatCalls().at(-1)?.body as Record<string, unknown>
const button = (name: string) => app.page.getByRole('button', { name, exact: true })
const said = () => app.page.locator('.tg-chat-message')

async function say(text: string): Promise<void> {
  await app.page.getByRole('textbox', { name: en('shared.message') }).fill(text)
  await app.page.keyboard.press('Enter')
}

it('a chat sends the selected parameters, and shows answer, reasoning and cost', async () => {
  await open()
  await app.page.getByLabel(en('ui.groupName')).selectOption('vip')
  const slider = app.page.getByRole('slider', { name: en('playground.temperature') })
  for (const [attribute, value] of Object.entries({ min: '0.1', max: '1', step: '0.1' })) {
    await expect.poll(() => slider.getAttribute(attribute)).toBe(value)
  }
  const most = app.page.getByLabel(en('playground.maxTokens'))
  for (const wrong of ['-5', '1.5', '1e9']) {
    await most.fill(wrong)
    await app.page.getByText(en('playground.maxTokensInvalid', { max: 10000000 })).waitFor()
  }
  await most.fill('0')
  await slider.press('End')
  await slider.press('ArrowLeft')
  await say('2 + 2?')
  await app.page.locator('[data-status="complete"] .tg-answer-cost').waitFor()
  const { messages, ...rest } = lastBody()
  expect(rest).toEqual({
    model: 'gpt-4o-mini',
    group: 'vip',
    stream: true,
    max_tokens: 0,
    temperature: 0.9,
  })
  expect(messages).toEqual([
    { role: 'system', content: 'You are a helpful assistant.' },
    { role: 'user', content: '2 + 2?' },
  ])
  await app.page.getByText('$0.002468', { exact: true }).waitFor()
  await app.page.getByText(en('playground.tokens', { input: 21, output: '1,048' })).waitFor()
  const reply = said().last()
  await expect.poll(() => reply.getByRole('heading', { name: 'Sums', level: 3 }).count()).toBe(1)
  await expect.poll(() => reply.locator('td').allInnerTexts()).toEqual(['2 + 2', '4'])
  await expect.poll(() => reply.innerText()).toContain('<b onclick="alert(1)">Tags</b> & bad, good')
  const links = reply.locator('.tg-prose a')
  const hrefs = await links.evaluateAll((all) => all.map((one) => one.getAttribute('href')))
  expect(hrefs).toEqual(['https://example.org/a', 'https://example.org/x.png'])
  await expect.poll(() => links.first().getAttribute('rel')).toBe('noopener noreferrer nofollow')
  await expect.poll(() => reply.locator('img, b').count()).toBe(0)
  const thoughts = app.page.getByText('Two and two')
  await expect.poll(() => thoughts.isVisible()).toBe(false)
  await app.page.getByText(en('playground.reasoning')).click()
  await expect.poll(() => thoughts.isVisible()).toBe(true)
})

it('a link starts a conversation with the model and group that it names', async () => {
  await open('en', '?model=o3&group=vip')
  await expect.poll(() => app.page.getByLabel(en('ui.groupName')).inputValue()).toBe('vip')
  await expect.poll(() => new URL(app.page.url()).search).toBe('')
  await say('2 + 2?')
  await app.page.locator('[data-status="complete"] .tg-answer-cost').waitFor()
  expect(lastBody()).toMatchObject({ model: 'o3', group: 'vip' })
  await app.page.goto(`${app.site.url}/playground?model=gpt-4o`)
  await app.page.getByText(en('playground.empty')).waitFor()
  await app.page.getByRole('button', { name: /2 \+ 2/ }).waitFor()
})

it('the playground offers the models of the selected group, or says it has none', async () => {
  app.site.routes['GET /api/user/models'] = ({ query }) =>
    ok(query.get('group') === 'vip' ? [] : ['gpt-4o', 'gpt-4o-mini', 'o3'])
  await open()
  await app.page.getByRole('textbox', { name: en('shared.message') }).fill('hello')
  await app.page.getByLabel(en('ui.groupName')).selectOption('vip')
  await app.page.getByText(en('playground.noModels')).first().waitFor()
  await expect.poll(() => button(en('shared.send')).isDisabled()).toBe(true)
  await app.page.getByLabel(en('ui.groupName')).selectOption('default')
  await app.page.getByText(en('playground.empty')).waitFor()
  await expect.poll(() => app.page.getByLabel(en('ui.model')).inputValue()).toBe('gpt-4o-mini')
  await expect.poll(() => button(en('shared.send')).isDisabled()).toBe(false)
})

it('the playground can stop, retry, edit and delete; a reload keeps the conversation', async () => {
  await open()
  answer = endless
  await say('a story')
  await app.page.locator('[data-status="incomplete"]').getByText('Once upon a time').waitFor()
  await expect.poll(() => button(en('playground.newChat')).isDisabled()).toBe(true)
  await button(en('shared.stop')).click()
  await app.page.getByText(en('playground.stopped'), { exact: true }).waitFor()
  await expect.poll(() => said().last().getAttribute('data-status')).toBe('complete')
  answer = whole
  await said()
    .last()
    .getByRole('button', { name: en('playground.retry') })
    .click()
  await app.page.getByText('$0.002468', { exact: true }).first().waitFor()
  await expect.poll(() => said().count()).toBe(2)
  const edit = said()
    .first()
    .getByRole('button', { name: en('ui.editRow') })
  const isOnEdit = () => edit.evaluate((button) => button === document.activeElement)
  await edit.click()
  await app.page.getByRole('textbox', { name: en('ui.editRow') }).press('Escape')
  await expect.poll(isOnEdit).toBe(true)
  await edit.click()
  await app.page.getByRole('textbox', { name: en('ui.editRow') }).fill('another story')
  await button(en('playground.saveAndSend')).click()
  await expect.poll(() => chatCalls().length).toBe(3)
  await expect.poll(isOnEdit).toBe(true)
  expect(JSON.stringify(lastBody().messages)).toContain('another story')
  // The cost includes the stopped answer, the regenerated answer and the last answer.
  await app.page.getByText(en('playground.conversationCost', { amount: '$0.007404' })).waitFor()
  await app.page.reload()
  await app.page.getByText(en('playground.conversationCost', { amount: '$0.007404' })).waitFor()
  await said()
    .first()
    .getByRole('button', { name: en('shared.delete') })
    .click()
  await expect.poll(() => said().count()).toBe(1)
  await app.page.getByText(en('playground.conversationCost', { amount: '$0.007404' })).waitFor()
  await button(en('playground.newChat')).last().click()
  await app.page.getByText(en('playground.empty')).waitFor()
})

it('a failed answer shows the error, and the user can retry it', async () => {
  await open()
  answer = broken
  await say('hello')
  const reply = app.page.locator('[data-status="error"]')
  await reply.getByText('The provider gave up.').waitFor()
  await reply.getByText('upstream_error').waitFor()
  await reply.getByText('So far').waitFor()
  app.site.routes['POST /pg/chat/completions'] = () => ({
    status: 402,
    body: {
      error: { message: 'Your quota does not cover this call.', code: 'insufficient_quota' },
    },
  })
  await reply.getByRole('button', { name: en('playground.retry') }).click()
  await app.page.getByText('Your quota does not cover this call.').waitFor()
  await expect.poll(() => said().count()).toBe(2)
  await expect.poll(() => app.page.getByRole('status').getByText('quota').count()).toBe(0)
})

it('an error without a code shows its message alone', async () => {
  app.site.routes['POST /pg/chat/completions'] = () => ({
    status: 400,
    body: { error: { message: 'The prompt is too long.' } },
  })
  await open()
  await say('hello')
  const reply = app.page.locator('[data-status="error"]')
  await reply.getByText('The prompt is too long.').waitFor()
  expect(await reply.locator('code').allInnerTexts()).not.toContain('Http400')
})

it('pictures of an answer are shown, sent to their model only, and not stored', async () => {
  answer = pictures
  await open()
  await say('a cat?')
  await app.page.locator('[data-status="complete"] .tg-answer-cost').waitFor()
  const reply = said().last()
  await expect.poll(() => reply.locator('strong').innerText()).toBe('cat')
  const isShown = (all: Element[]) => all.map((one) => (one as HTMLImageElement).naturalWidth)
  await expect.poll(() => reply.locator('img').evaluateAll(isShown)).toEqual([1, 1])
  await reply.getByRole('link', { name: 'https://example.org/bird.png' }).waitFor()
  answer = whole
  await say('another')
  await app.page.locator('[data-status="complete"] .tg-answer-cost').nth(1).waitFor()
  expect(JSON.stringify(lastBody().messages)).toContain(PICTURE)
  await app.page.getByLabel(en('ui.model')).selectOption('o3')
  await say('a third')
  await app.page.locator('[data-status="complete"] .tg-answer-cost').nth(2).waitFor()
  expect(lastBody().model).toBe('o3')
  expect(JSON.stringify(lastBody().messages)).toContain('A **cat**: ![image](data:) and a dog')
  await app.page.reload()
  await expect.poll(() => app.page.getByText(en('playground.pictureRemoved')).count()).toBe(2)
  const stored = await app.page.evaluate(() => JSON.stringify(localStorage))
  expect(stored.length).toBeLessThan(50_000)
})

it('the transcript of audio and a line per tool call are shown', async () => {
  answer = audioAndTools
  await open()
  await say('hello')
  await app.page.locator('[data-status="complete"] .tg-answer-cost').waitFor()
  const reply = said().last()
  await reply.getByText('Good morning', { exact: true }).waitFor()
  const calls = await reply.locator('.tg-tool-call').allInnerTexts()
  const label = en('playground.toolCall')
  expect(calls).toEqual([`${label} find_cats({"in":"Rome"})`, `${label} note(a cat)`])
})

/** Holds the response with the tokens until the returned function is called. */
function heldTokens(items: typeof TOKENS): () => void {
  const { promise: isTold, resolve } = Promise.withResolvers<void>()
  app.site.routes['GET /api/token/search'] = async ({ query }) => {
    await isTold
    const found = items.filter(({ status }) => String(status) === query.get('status'))
    return ok({ items: found, page: 0, total: found.length })
  }
  return resolve
}

it('a message written before the tokens are loaded is sent once they are loaded', async () => {
  const answerTokens = heldTokens(TOKENS)
  await open()
  await app.page
    .locator('option', { hasText: 'gpt-4o-mini' })
    .first()
    .waitFor({ state: 'attached' })
  await say('2 + 2?')
  await app.page.locator('.tg-composer [aria-busy="true"]').waitFor()
  expect(chatCalls()).toEqual([])
  answerTokens()
  await app.page.locator('[data-status="complete"] .tg-answer-cost').waitFor()
  expect(chatCalls()).toHaveLength(1)
})

it('a message written before the models are loaded is sent once they are loaded', async () => {
  const { promise: isTold, resolve } = Promise.withResolvers<void>()
  app.site.routes['GET /api/user/models'] = async () => {
    await isTold
    return ok(['o3'])
  }
  await open()
  await say('2 + 2?')
  await app.page.locator('.tg-composer [aria-busy="true"]').waitFor()
  expect(chatCalls()).toEqual([])
  resolve()
  await app.page.locator('[data-status="complete"] .tg-answer-cost').waitFor()
  expect(chatCalls()).toHaveLength(1)
  expect(lastBody()).toMatchObject({ model: 'o3' })
})

it('a user without an enabled token gets a message and the token page, and no call', async () => {
  const answerTokens = heldTokens(TOKENS.filter(({ status }) => status !== 1))
  await open('zh')
  const box = app.page.locator('.tg-composer textarea')
  const send = async (): Promise<void> => {
    await box.fill('2 + 2?')
    await box.press('Enter')
  }
  await app.page
    .locator('option', { hasText: 'gpt-4o-mini' })
    .first()
    .waitFor({ state: 'attached' })
  await send()
  answerTokens()
  await app.page.getByText(zh('playground.noToken')).waitFor()
  await send()
  await expect.poll(() => box.inputValue()).toBe('2 + 2?')
  // The site selects the enabled tokens, because the newest 100 tokens may all be disabled.
  const check = app.site.calls.find(({ path }) => path === '/api/token/search')
  expect([check?.query.get('status'), check?.query.get('size')]).toEqual(['1', '1'])
  await app.page.waitForURL('**/app/tokens')
  expect(chatCalls()).toEqual([])
})

it.each(['zh', 'en'] as const)(
  'the playground has no accessibility fault, in %s',
  async (language) => {
    await open(language)
    expect(await lookFaults(app.page, `playground-empty-${language}`, [1280, 390])).toEqual([])
    await app.page.locator('.tg-composer textarea').fill('How much is two and two?')
    await app.page.keyboard.press('Enter')
    await app.page.locator('[data-status="complete"] .tg-answer-cost').waitFor()
    await app.page.locator('.tg-thoughts summary').click()
    expect(await lookFaults(app.page, `playground-${language}`)).toEqual([])
  },
)
