import { expect, it, vi } from 'vitest'
import { linkTo, urlColumnLayout } from '#console/features/usage-log/log-url-params.ts'
import type { ColumnLayout } from '#console/ui/data-grid/use-column-layout.ts'

const column = (id: string) => ({ id, title: id, width: 100, cell: () => id })
const ALL = ['time', 'model', 'cost'].map(column)
const layoutOf = (): ColumnLayout<unknown> => ({
  all: ALL,
  visible: ALL.slice(0, 1),
  widthOf: () => 100,
  isShown: () => false,
  isResized: () => false,
  isAgo: null,
  setAgo: vi.fn(),
  setShown: vi.fn(),
  setWidth: vi.fn(),
  move: vi.fn(),
  reset: vi.fn(),
})
const shownIds = (layout: ColumnLayout<unknown>) => layout.visible.map(({ id }) => id)

it('a link shows its columns in its order instead of the remembered ones', () => {
  const linked = urlColumnLayout(layoutOf(), 'cost,time', () => {})
  expect(shownIds(linked)).toEqual(['cost', 'time'])
  expect(ALL.map((each) => linked.isShown(each))).toEqual([true, false, true])
})

it('a link cannot show columns that the user may not see', () => {
  expect(shownIds(urlColumnLayout(layoutOf(), 'channel,username,model', () => {}))).toEqual([
    'model',
  ])
})

it('a link without columns, or only with unknown ones, changes nothing', () => {
  const layout = layoutOf()
  expect(urlColumnLayout(layout, '', () => {})).toBe(layout)
  expect(urlColumnLayout(layout, 'channel,<b>', () => {})).toBe(layout)
})

it('a column change by the user ends the effect of the link', () => {
  const [layout, forget] = [layoutOf(), vi.fn()]
  const linked = urlColumnLayout(layout, 'cost', forget)
  linked.setShown('model', true)
  linked.move('model', 1)
  linked.reset()
  expect(forget).toHaveBeenCalledTimes(3)
  expect(layout.setShown).toHaveBeenCalledWith('model', true)
  expect(layout.move).toHaveBeenCalledWith('model', 1)
  expect(layout.reset).toHaveBeenCalledOnce()
})

it('a copied link adds what only this browser remembers, and keeps the rest', () => {
  const link = linkTo('https://site.example/app/logs?model=a&page_size=10', {
    pageSize: 50,
    columns: ['time', 'cost'],
  })
  expect(new URL(link).searchParams.toString()).toBe('model=a&page_size=50&columns=time%2Ccost')
})
