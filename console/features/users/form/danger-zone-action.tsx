import { useState } from 'react'
import { Button } from '#console/ui/elements/button.tsx'
import type { IconName } from '#console/ui/elements/icons.tsx'
import type { User } from '#read-api/contract/users.ts'
import { TypedNameDialog } from './type-to-confirm-dialog.tsx'

/** An irreversible action. The user confirms it by typing the username. */
export function DangerPart(props: {
  user: User
  icon: IconName
  name: string
  hint: string
  openText: string
  title: string
  body: string
  actionText: string
  act: () => Promise<void>
}) {
  const [isAsking, setAsking] = useState(false)
  return (
    <section className="tg-user-part tg-user-danger">
      <div>
        <h3>{props.name}</h3>
        <p className="tg-hint">{props.hint}</p>
      </div>
      <Button icon={props.icon} onClick={() => setAsking(true)}>
        {props.openText}
      </Button>
      <TypedNameDialog
        user={props.user}
        isOpen={isAsking}
        title={props.title}
        body={props.body}
        actionText={props.actionText}
        act={props.act}
        onClose={() => setAsking(false)}
      />
    </section>
  )
}
