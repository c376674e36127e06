import './group-tag.css'
import type { ReactElement } from 'react'
import { useSharedStatus } from '#console/api/status.ts'

/** A user group's name in the group's color. */
export function GroupTag({ name }: { name: string }): ReactElement {
  const colors = useSharedStatus()?.group_colors
  const color = colors !== undefined && Object.hasOwn(colors, name) ? colors[name] : undefined
  return <GroupBadge name={name} color={color ?? ''} />
}

/** Renders a `GroupTag`, for lists that take a render function. */
export const groupTag = (name: string): ReactElement => <GroupTag name={name} />

/** A group's name in a given color, such as a color that is not saved yet. */
export function GroupBadge(props: { name: string; color: string }): ReactElement {
  const color = /^[a-z]+$/.test(props.color) ? ` tg-group-${props.color}` : ''
  return <span className={`tg-group${color}`}>{props.name}</span>
}
