import '#console/theme/styles.css'
import { OverlaysProvider } from '@blueprintjs/core'
import { type ReactElement, useEffect, useState } from 'react'
import { createRoot } from 'react-dom/client'
import { startI18n } from '#console/i18n/i18n.ts'
import type { Column } from '#console/ui/data-grid/column-and-layout.ts'
import { DataGrid } from '#console/ui/data-grid/data-grid.tsx'
import { useColumnLayout } from '#console/ui/data-grid/use-column-layout.ts'
import { ColumnChooser } from '#console/ui/lists/column-chooser.tsx'

type Row = { id: number; model: string; quota: number }

/** `?rows=0` starts with an empty list, for rows that arrive live. */
const ROWS = Number(new URLSearchParams(location.search).get('rows') ?? 100_000)

const COLUMNS: Column<Row>[] = [
  { id: 'id', title: 'Id', width: 100, cell: (row) => row.id, isPinned: true, onCard: 'title' },
  { id: 'model', title: 'Model', width: 200, cell: (row) => row.model, isGrowing: true },
  { id: 'quota', title: 'Quota', width: 120, cell: (row) => row.quota, align: 'end' },
]

const rowOf = (id: number): Row => ({ id, model: `model-${id % 7}`, quota: id * 3 })
const rowsAbove = (id: number, count: number): Row[] =>
  Array.from({ length: count }, (_, index) => rowOf(id + count - index))
const keyOf = (row: Row) => String(row.id)

function Fixture(): ReactElement {
  const [rows, setRows] = useState(() =>
    Array.from({ length: ROWS }, (_, index) => rowOf(ROWS - index)),
  )
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set())
  const layout = useColumnLayout('fixture-columns', COLUMNS)
  const [isAtTop, setAtTop] = useState(true)
  const [isStreaming, setStreaming] = useState(false)
  const [text, setText] = useState('')
  const prepend = (count: number) =>
    setRows((now) => [...rowsAbove(now[0]?.id ?? 0, count), ...now])
  useEffect(() => {
    if (!isStreaming) return
    const timer = setInterval(
      () => setRows((now) => [...rowsAbove(now[0]?.id ?? 0, 10), ...now]),
      20,
    )
    return () => clearInterval(timer)
  }, [isStreaming])
  return (
    <OverlaysProvider>
      <h1>Grid</h1>
      <button type="button" onClick={() => prepend(50)}>
        Prepend
      </button>
      <button type="button" aria-pressed={isStreaming} onClick={() => setStreaming(!isStreaming)}>
        Stream
      </button>
      <input aria-label="Note" value={text} onChange={(event) => setText(event.target.value)} />
      <output>{[...selected].join(' ')}</output>
      <output>{isAtTop ? 'at top' : 'scrolled'}</output>
      <ColumnChooser layout={layout} />
      <DataGrid
        label="Calls"
        rows={rows}
        rowKey={keyOf}
        layout={layout}
        selection={{ keys: selected, onChange: setSelected }}
        expand={(row) => <p>Details of {row.id}</p>}
        maxHeight="520px"
        onAtTop={setAtTop}
      />
    </OverlaysProvider>
  )
}

await startI18n()
const root = document.getElementById('root')
if (root !== null) createRoot(root).render(<Fixture />)
