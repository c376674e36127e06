import type { ReactElement, ReactNode } from 'react'

/** One number with its name; stands in a `dl`. */
export function Figure(props: { name: string; children: ReactNode }): ReactElement {
  return (
    <div>
      <dt>{props.name}</dt>
      <dd className="tg-number">{props.children}</dd>
    </div>
  )
}
