import type { ReactNode } from 'react'

/** A name with its value. The parent must be a `dl` element. */
export function LabelledValue(props: { name: ReactNode; className?: string; children: ReactNode }) {
  return (
    <div>
      <dt>{props.name}</dt>
      <dd className={props.className}>{props.children}</dd>
    </div>
  )
}
