import { useEffect, useRef } from 'react'
import { type Command, registerCommands } from './command.ts'

/** What the component offers while it is on screen. */
export function useCommands(commands: readonly Command[]): void {
  const latest = useRef(commands)
  useEffect(() => {
    latest.current = commands
  })
  useEffect(() => registerCommands(latest), [])
}
