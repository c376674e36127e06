import { messageDecider } from '#domain/message/decide.ts'
import { messageStream } from '#domain/message/events.ts'
import type { ActContext } from '#infra/event-store/actors-port.ts'
import { accepted, type Deps } from '../act.ts'

/** Destroys the text of a message for good, and takes it out of every inbox. */
export async function removeMessage(
  { core: { actors, vault }, turns }: Deps,
  messageId: number,
  context: ActContext,
): Promise<number> {
  const stream = messageStream(messageId)
  return turns(stream, async () => {
    const { message } = await actors.stateOf(messageDecider, stream)
    // NOTE: the text first: what fails between the two leaves a message that can be deleted again.
    if (message?.text != null) await vault.deleteSecret(message.text.textRef)
    const command = { type: 'DeleteMessage', messageId } as const
    const outcome = await actors.handle(messageDecider, stream, command, context)
    const { events, position } = accepted(outcome)
    // Another process may have edited it meanwhile.
    for (const { data } of events) {
      if ('droppedTextRef' in data) await vault.deleteSecret(data.droppedTextRef)
    }
    return position
  })
}
