// @vitest-environment jsdom
import { cleanup, render } from '@testing-library/react'
import { afterEach, expect, it } from 'vitest'
import { Markdown } from '#console/features/playground/markdown.tsx'

afterEach(cleanup)

const drawn = (text: string): HTMLElement =>
  render(<Markdown text={text} />).container.querySelector('.tg-prose') as HTMLElement

it.each([
  '<script>alert(1)</script>',
  'a <img src=x onerror=alert(1)> b',
  '<details open ontoggle=alert(1)>',
])('the Markdown view shows %s as text', (text) => {
  const prose = drawn(text)
  expect(prose.textContent).toBe(text)
  expect(prose.querySelector('script, img, details')).toBeNull()
})

it.each([
  '[x](javascript:alert(1))',
  '[x](JaVaScRiPt:alert(1))',
  '[x](java&#115;cript:alert(1))',
  '[x](data:text/html,hi)',
  '[x](vbscript:x)',
  '[x](/api/user/logout)',
  '[x](//evil.example)',
  '[x][1]\n\n[1]: javascript:alert(1)',
  '![x](javascript:alert(1))',
])('the Markdown view creates no link or image for %s', (text) => {
  expect(drawn(text).querySelector('a, img')).toBeNull()
})

it.each([
  ['quotes', '>'.repeat(5_000)],
  ['lists', Array.from({ length: 60 }, (_, at) => `${'  '.repeat(at)}- a`).join('\n')],
  ['a fence that is not closed yet', '```ts\nconst a = 1'],
  ['a table that has begun', '| a | b |\n|--'],
  ['more than is read', '*a* '.repeat(60_000)],
])('the Markdown view renders %s', (_what, text) => {
  expect(drawn(text).textContent?.length).toBeGreaterThan(0)
})

it('the Markdown view decodes entities', () => {
  expect(drawn('a &amp; b &lt;c&gt; &#39;d&#39; &unknown; `&amp;`').textContent).toBe(
    "a & b <c> 'd' &unknown; &amp;",
  )
})

it.each([
  ['a picture in a list', '- ![x](data:image/png;base64,AAAA)', 1],
  ['a picture on another server', '![x](https://example.org/x.png)', 0],
  ['a document as a picture', '![x](data:text/html;base64,AAAA)', 0],
  ['a picture that is not complete', 'a ![x](data:image/png;base64,AAAA', 0],
  ['a placeholder without a picture', '![x](tg-picture:7)', 0],
])('the Markdown view of %s loads only pictures in the text', (_, text, count) => {
  const pictures = [...drawn(text).querySelectorAll('img')]
  expect(pictures.map((one) => [one.getAttribute('src'), one.alt])).toEqual(
    Array.from({ length: count }, () => ['data:image/png;base64,AAAA', 'x']),
  )
})

it('the address of a picture in code is shown as it is', () => {
  const picture = '![x](data:image/png;base64,AAAA)'
  const prose = drawn(`\`${picture}\`\n\n\`\`\`\n${picture}\n\`\`\``)
  expect([...prose.querySelectorAll('code')].map((one) => one.textContent)).toEqual([
    picture,
    picture,
  ])
})
