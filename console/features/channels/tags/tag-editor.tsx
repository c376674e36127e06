import { type ReactElement, useId, useRef } from 'react'
import { mayLeave } from '#console/ui/may-leave.ts'
import { Overlay } from '#console/ui/overlay.tsx'
import type { TagGroup } from '#read-api/contract/channel.ts'
import { TagForm } from './tag-form.tsx'

/** Changes all channels of a tag at once. */
export function TagEditor(props: { group: TagGroup | null; onClose: () => void }): ReactElement {
  const id = useId()
  const last = useRef<TagGroup | null>(null)
  const isChanged = useRef(false)
  if (props.group !== null) last.current = props.group
  const leave = async () => {
    if (await mayLeave(isChanged.current)) close()
  }
  const close = () => {
    isChanged.current = false
    props.onClose()
  }
  return (
    <Overlay
      isOpen={props.group !== null}
      onClose={() => void leave()}
      labelledBy={id}
      className="tg-dialog tg-dialog-form"
    >
      {last.current !== null && (
        <TagForm
          titleId={id}
          group={last.current}
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
