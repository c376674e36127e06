import {
  createContext,
  type ReactNode,
  useContext,
  useLayoutEffect,
  useState,
  useSyncExternalStore,
} from 'react'
import { AmountAlignment, alignmentPadding, decimalsOf } from './amount-alignment.ts'

const Alignment = createContext<AmountAlignment | null>(null)

/** Aligns the amounts of one column of a table at the decimal point. */
export const AlignedColumn = (props: { alignment: AmountAlignment; children: ReactNode }) => (
  <Alignment value={props.alignment}>{props.children}</Alignment>
)

/**
 * Returns a function that finds the alignment of a column by its id. The alignments last as long as
 * the table. If `isVirtualized` is true, only some rows are rendered at a time. The number of
 * decimals in a column then never decreases while the user scrolls, so that the column does not
 * move back and forth.
 */
export function useAmountAlignments(isVirtualized = false): (column: string) => AmountAlignment {
  const [find] = useState(() => {
    const alignments = new Map<string, AmountAlignment>()
    return (column: string): AmountAlignment => {
      const alignment = alignments.get(column) ?? new AmountAlignment(isVirtualized)
      alignments.set(column, alignment)
      return alignment
    }
  })
  return find
}

/**
 * Shows an amount, which is never wrapped. In a column of a table, all amounts are aligned at the
 * decimal point, so that their sizes are easy to compare.
 */
export function AmountText(props: { text: string; title?: string; className?: string }) {
  const { title, className } = props
  // A minus sign is as wide as a plus sign, but a hyphen is not.
  const text = props.text.replace(/^-/, '−')
  const alignment = useContext(Alignment)
  const decimals = decimalsOf(text)
  useLayoutEffect(() => alignment?.add(decimals), [alignment, decimals])
  const most = useSyncExternalStore(
    alignment?.subscribe ?? subscribeToNothing,
    alignment?.most ?? noDecimals,
  )
  return (
    <span
      className={className === undefined ? 'tg-amount' : `tg-amount ${className}`}
      title={title}
      data-padding={alignmentPadding(decimals, most)}
    >
      {text}
    </span>
  )
}

const subscribeToNothing = () => () => {}
const noDecimals = () => 0
