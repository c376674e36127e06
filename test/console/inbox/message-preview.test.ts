import { expect, it } from 'vitest'
import { previewOf } from '#console/features/inbox/message-preview.ts'
import { budget, threadCpuMs } from '#test/support/time-limit.ts'

const plain = (content: string) => previewOf({ content, format: 'plain' })

it('a preview is cut at 100 visible characters, emoji included', () => {
  expect(plain('x'.repeat(100))).toBe('x'.repeat(100))
  expect(plain('x'.repeat(101))).toBe(`${'x'.repeat(97)}...`)
  expect(plain('😀'.repeat(101))).toBe(`${'😀'.repeat(97)}...`)
  expect(plain('👩‍👩‍👧'.repeat(100))).toBe('👩‍👩‍👧'.repeat(100))
  expect(plain('🇨🇳'.repeat(101))).toBe(`${'🇨🇳'.repeat(97)}...`)
  expect(plain('two\n\n  lines ')).toBe('two lines')
})

it('a preview is fast for text built to be slow, and shows nothing of a cut-off element', () => {
  const begin = threadCpuMs()
  for (const mark of ['<style>', '[a](', '**a ', '<!--', '<a ']) {
    previewOf({ content: mark.repeat(20_000 / mark.length), format: 'markdown' })
  }
  expect(threadCpuMs() - begin).toBeLessThan(budget(500))
  const style = `<p>Hello</p><style>${'p{}'.repeat(1_000)}`
  expect(previewOf({ content: style, format: 'html' })).toBe('Hello')
})

it('a preview shows the text of a message without its markup', () => {
  const html = '<style>p{color:red}</style><p>Up &amp; <b>running</b><!-- not this --></p>'
  expect(previewOf({ content: html, format: 'html' })).toBe('Up & running')
  const markdown = '# Notice\n\n- **Tonight**, from _22:00_\n- see [the plan](https://x.example)'
  expect(previewOf({ content: markdown, format: 'markdown' })).toBe(
    'Notice Tonight, from 22:00 see the plan',
  )
  const of = (content: string) => previewOf({ content, format: 'markdown' })
  expect(of('See [the page](https://x.example/a_(b)x) now')).toBe('See the page now')
  expect(of('See [it](https://x.example "all (of it)"), [![pic](/p.png)](/q)')).toBe('See it, pic')
  expect(of('Rates:\n\n| Model | Price |\n| :-- | --: |\n| o3 | a\\|b |\n\nor 1 | 2')).toBe(
    'Rates: Model Price o3 a|b or 1 | 2',
  )
  expect(of('a | b\n--- | ---\n1 | 2')).toBe('a b 1 2')
  expect(of('By <https://x.example/a> or \\[by hand\\]')).toBe(
    'By https://x.example/a or [by hand]',
  )
  const picture = `![The plan](data:image/png;base64,${'A'.repeat(9_000)}) is here`
  expect(of(picture)).toBe('The plan is here')
  const far = `${'[a](/b) '.repeat(247)}[the end](https://x.example/${'y'.repeat(99)})`
  expect(of(far)).not.toContain(']')
  expect(previewOf({ content: `<img src="${picture}">Here`, format: 'html' })).toBe('Here')
  expect(previewOf({ content: 'a_snake_name * 2 < 3', format: 'markdown' })).toBe(
    'a_snake_name * 2 < 3',
  )
})
