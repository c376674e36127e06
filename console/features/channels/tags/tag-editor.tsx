import { type ReactElement, useId, useRef } from 'react'
import { mayLeave } from '#console/ui/may-leave.ts'
import { Overlay } from '#console/ui/overlay.tsx'
import type { Channel, TagGroup } from '#read-api/contract/channel.ts'
import { TagForm } from './tag-form.tsx'

/** A tag, and all of its channels as they are. */
export type EditedTag = { readonly group: TagGroup; readonly channels: readonly Channel[] }

/** Changes all channels of a tag at once. */
export function TagEditor(props: { edited: EditedTag | null; onClose: () => void }): ReactElement {
  const id = useId()
  const last = useRef<EditedTag | null>(null)
  const isChanged = useRef(false)
  if (props.edited !== null) last.current = props.edited
  const leave = async () => {
    if (await mayLeave(isChanged.current)) close()
  }
  const close = () => {
    isChanged.current = false
    props.onClose()
  }
  return (
    <Overlay
      isOpen={props.edited !== null}
      onClose={() => void leave()}
      labelledBy={id}
      className="tg-dialog tg-dialog-form"
    >
      {last.current !== null && (
        <TagForm
          titleId={id}
          {...last.current}
          onChanged={(isSo) => {
            isChanged.current = isSo
          }}
          onCancel={() => void leave()}
          onClose={close}
        />
      )}
    </Overlay>
  )
}
