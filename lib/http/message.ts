// Human-readable confirmation, as the body of a response.
import { component, Type } from '../base/schema.ts'

export const Message = component('Message', { message: Type.String() })
