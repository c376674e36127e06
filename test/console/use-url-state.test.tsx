// @vitest-environment jsdom
import { act, cleanup, fireEvent, render, screen } from '@testing-library/react'
import { useState } from 'react'
import { createBrowserRouter, RouterProvider } from 'react-router-dom'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { startI18n } from '#console/i18n/i18n.ts'
import { dismissToast, shownToasts } from '#console/ui/messages/toast.ts'
import { integerParam, textParam } from '#console/ui/state/url-state.ts'
import { useUrlState } from '#console/ui/state/use-url-state.ts'

const SCHEMA = {
  word: textParam(),
  page: integerParam({ fallback: 0 }),
  size: integerParam({ fallback: 10 }),
}

function Probe() {
  const [values, set] = useUrlState(SCHEMA)
  const [, setOther] = useUrlState(SCHEMA)
  const [draft, setDraft] = useState('')
  const both = () => {
    set({ word: 'a' })
    setOther({ size: 50 })
  }
  const type = (word: string) => {
    setDraft(word)
    set({ word, page: 0 }, { isTyping: true })
  }
  return (
    <>
      <output>{JSON.stringify(values)}</output>
      <button type="button" onClick={both}>
        both
      </button>
      <button type="button" onClick={() => set({ page: 7 })}>
        page
      </button>
      <input value={draft} onChange={(event) => type(event.currentTarget.value)} />
    </>
  )
}

async function open(search: string): Promise<void> {
  window.history.replaceState(null, '', `/${search}`)
  // A loader delays the navigation, as on pages behind the login.
  const router = createBrowserRouter([{ path: '/', loader: () => null, element: <Probe /> }])
  await act(async () => void render(<RouterProvider router={router} />))
}

const values = () => JSON.parse(screen.getByRole('status').textContent ?? '')
const press = (name: string) =>
  act(async () => void fireEvent.click(screen.getByRole('button', { name })))
const type = (value: string) =>
  act(async () => void fireEvent.input(screen.getByRole('textbox'), { target: { value } }))
const back = () =>
  act(async () => {
    const landed = new Promise((done) => window.addEventListener('popstate', done, { once: true }))
    window.history.back()
    await landed
  })

beforeEach(async () => {
  Object.defineProperty(window, 'matchMedia', {
    value: () => ({ matches: false, addEventListener: () => {} }),
    configurable: true,
  })
  await startI18n()
})
afterEach(() => {
  cleanup()
  for (const { id } of shownToasts()) dismissToast(id)
})

it('two changes within one navigation both apply, in one history entry', async () => {
  await open('?theirs=1')
  await press('page')
  await press('both')
  expect(values()).toEqual({ word: 'a', page: 7, size: 50 })
  expect(window.location.search).toBe('?theirs=1&page=7&word=a&size=50')
  await back()
  expect(values()).toEqual({ word: '', page: 7, size: 10 })
})

it('a change to the current value adds no history entry', async () => {
  await open('')
  await press('both')
  await press('page')
  await press('page')
  await back()
  expect(values()).toEqual({ word: 'a', page: 0, size: 50 })
})

it('letters typed without a pause share one history entry; a new visit adds one', async () => {
  await open('?page=7')
  for (const text of ['g', 'gp', 'gpt']) await type(text)
  expect(window.location.search).toBe('?word=gpt')
  fireEvent.focusOut(screen.getByRole('textbox'))
  for (const text of ['gpt-', 'gpt-4']) await type(text)
  await back()
  expect(values()).toMatchObject({ word: 'gpt' })
  await back()
  expect(values()).toEqual({ word: '', page: 7, size: 10 })
})

it('a change after Back starts from the state to which Back led', async () => {
  await open('')
  await press('both')
  await back()
  await press('page')
  expect(values()).toEqual({ word: '', page: 7, size: 10 })
})

it('the hook removes invalid parameters from the URL, and reports them', async () => {
  await open('?page=x&theirs=1&word=ok')
  expect(window.location.search).toBe('?theirs=1&word=ok')
  const said = shownToasts().map(({ message }) => message)
  expect(said).toEqual([expect.stringContaining('page')])
})
