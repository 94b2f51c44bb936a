/**
 * stope: exact data mining on tables, on the CPU and on GPUs. Start with {@link org.stope.Table} and {@link
 * org.stope.Knn}. Every failure is a {@link org.stope.StopeException}. What has native memory is closed, best in a
 * try-with-resources statement; what is forgotten is freed after the garbage collector has found it. Arguments of type
 * {@link org.stope.Options} and {@link org.stope.Run} may be null. A thread's interrupt ends the job that it is inside with
 * CANCELLED; the thread stays interrupted.
 */
package org.stope;
