import { type ReactElement, useMemo, useRef, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { FormDrawer } from '#console/ui/form-drawer.tsx'
import { focusFirstFault } from '#console/ui/use-submit.ts'
import type { CapFallback } from './output-cap.ts'
import {
  changedRow,
  draftOfRow,
  emptyPrice,
  type PriceDraft,
  type PriceFaults,
  priceFaults,
  rowOfDraft,
} from './price-draft.ts'
import { PriceFields } from './price-fields.tsx'
import type { PriceRow } from './price-table.ts'

type PriceDrawerProps = {
  edited: PriceRow | 'new' | null
  capFallback: CapFallback
  /** Names that are in the table already. */
  taken: ReadonlySet<string>
  /** Known in advance, for a model that has no price yet. */
  newName?: string
  onClose: () => void
  /** `before`: the name it had, where it had one. */
  onApply: (row: PriceRow, before: string | null) => void
}

/** One model's price. Mounted anew for each, so that no draft is left over. */
export function PriceDrawer(props: PriceDrawerProps): ReactElement {
  const last = useRef<PriceRow | 'new'>('new')
  if (props.edited !== null) last.current = props.edited
  const name = last.current === 'new' ? `new ${props.newName ?? ''}` : last.current.name
  return <OpenDrawer key={`${name}-${props.edited === null}`} {...props} row={last.current} />
}

function OpenDrawer(props: PriceDrawerProps & { row: PriceRow | 'new' }): ReactElement {
  const { row } = props
  const { t } = useTranslation()
  const form = useRef<HTMLFormElement>(null)
  const [before] = useState<PriceDraft>(() =>
    row === 'new' ? { ...emptyPrice, name: props.newName ?? '' } : draftOfRow(row),
  )
  const [draft, setDraft] = useState(before)
  const [faults, setFaults] = useState<PriceFaults>({})
  const taken = useOthers(props.taken, row === 'new' ? null : row.name)
  const change = (next: PriceDraft) => {
    setDraft(next)
    if (Object.keys(faults).length > 0) setFaults(priceFaults(next, taken, before))
  }
  const apply = () => {
    const found = priceFaults(draft, taken, before)
    setFaults(found)
    if (Object.keys(found).length > 0) focusFirstFault(form)
    else if (row === 'new') props.onApply(rowOfDraft(draft), null)
    else props.onApply(changedRow(row, before, draft), row.name)
  }
  return (
    <FormDrawer
      isOpen={props.edited !== null}
      title={t(row === 'new' ? 'settings.priceAddTitle' : 'settings.priceTitle')}
      lead={t('settings.priceLead')}
      submitText={t('settings.apply')}
      form={form}
      isChanged={JSON.stringify(draft) !== JSON.stringify(before)}
      onSubmit={apply}
      onClose={props.onClose}
    >
      <PriceFields
        capFallback={props.capFallback}
        draft={draft}
        faults={faults}
        onChange={change}
      />
    </FormDrawer>
  )
}

const useOthers = (taken: ReadonlySet<string>, own: string | null): ReadonlySet<string> =>
  useMemo(() => new Set([...taken].filter((name) => name !== own)), [taken, own])
