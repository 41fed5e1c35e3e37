// Bare Fastify in a process of its own: node http-server.js <port> <answer, JSON>
import { fastify } from 'fastify';

const [, , port, answer] = process.argv;
const app = fastify({ bodyLimit: 16 * 1024 * 1024 });
const constant: unknown = JSON.parse(answer!);
app.all('/*', () => constant);
await app.listen({ port: Number(port), host: '127.0.0.1' });
console.log('ready');
