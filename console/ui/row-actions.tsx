import type { ReactElement } from 'react'
import { Button } from './button.tsx'
import type { IconName } from './icons.tsx'

export type RowAct = {
  readonly icon: IconName
  /** Names the row, too. */
  readonly label: string
  readonly act: () => void
  /** What pressing the row does as well: on a card, what opens the card says it. */
  readonly isOnTable?: boolean
}

/** The few things that can be done to one row, each by its icon. */
export function RowActions({ acts }: { acts: readonly RowAct[] }): ReactElement {
  return (
    <span className="tg-row-actions">
      {acts.map(({ icon, label, act, isOnTable }) => (
        <span key={icon} className={isOnTable === true ? 'tg-on-table' : undefined}>
          <Button tone="quiet" size="small" icon={icon} label={label} onClick={act} />
        </span>
      ))}
    </span>
  )
}
