import type { ReactElement, ReactNode } from 'react'

/** A number with its label; must be inside a `dl`. */
export function Figure(props: { name: string; children: ReactNode }): ReactElement {
  return (
    <div>
      <dt>{props.name}</dt>
      <dd className="tg-number">{props.children}</dd>
    </div>
  )
}
