import type { ReactNode } from 'react'

/** A name with its value. The parent must be a `dl` element. */
export function LabelledValue(props: {
  name: ReactNode
  className?: string | undefined
  children: ReactNode
}) {
  return (
    <div>
      <dt>{props.name}</dt>
      <dd className={props.className}>{props.children}</dd>
    </div>
  )
}

export type NamedValue = readonly [name: string, value: ReactNode]

/** A list of names with values. Values that are null, undefined, false or empty are left out. */
export function LabelledValues(props: {
  className?: string
  valueClassName?: string
  values: readonly NamedValue[]
}) {
  return (
    <dl className={props.className}>
      {props.values
        .filter(([, value]) => value != null && value !== false && value !== '')
        .map(([name, value]) => (
          <LabelledValue key={name} name={name} className={props.valueClassName}>
            {value}
          </LabelledValue>
        ))}
    </dl>
  )
}
